//! The body of a response: that of the service within, or the text of a refusal.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

pin_project_lite::pin_project! {
    /// The body of a response of a limited service.
    #[derive(Debug)]
    pub struct LimitedBody<B> {
        #[pin]
        kind: Kind<B>,
    }
}

pin_project_lite::pin_project! {
    #[project = KindProjection]
    #[derive(Debug)]
    enum Kind<B> {
        Served { #[pin] body: B },
        Refused { text: Bytes },
    }
}

impl<B> LimitedBody<B> {
    pub(crate) const fn served(body: B) -> Self {
        Self { kind: Kind::Served { body } }
    }

    pub(crate) fn refused(text: String) -> Self {
        Self { kind: Kind::Refused { text: text.into() } }
    }
}

impl<B: Body<Data = Bytes>> Body for LimitedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().kind.project() {
            KindProjection::Served { body } => body.poll_frame(context),
            KindProjection::Refused { text } if text.is_empty() => Poll::Ready(None),
            KindProjection::Refused { text } => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(text)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Served { body } => body.is_end_stream(),
            Kind::Refused { text } => text.is_empty(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Served { body } => body.size_hint(),
            Kind::Refused { text } => SizeHint::with_exact(text.len() as u64),
        }
    }
}
