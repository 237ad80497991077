//! A request that is served: what its response says, and what it is charged in the end.

use crate::asked::{Answered, Decided, at_once};
use crate::figures::Told;
use crate::header_styles::{Field, FieldValue, HeaderStyles};

/// A request that the limits admitted.
#[must_use = "its response has fields to be written"]
pub struct Passed {
    /// Those whose charge depends on the response, or none.
    answers: Vec<Answered>,
    told: Option<Told>,
    styles: HeaderStyles,
}

impl Passed {
    pub(crate) fn new(decided: Decided, told: Option<Told>, styles: HeaderStyles) -> Self {
        let depends = decided.answers.iter().any(Answered::depends_on_status);
        let answers = if depends { decided.answers.into_vec() } else { Vec::new() };
        Self { answers, told, styles }
    }

    /// Of a request whose charge does not depend on the response.
    pub(crate) const fn settled(told: Option<Told>, styles: HeaderStyles) -> Self {
        Self { answers: Vec::new(), told, styles }
    }

    /// Whether nothing is to be given back for a response of this status.
    #[must_use]
    pub fn is_settled(&self, status: u16) -> bool {
        !self.answers.iter().any(|answered| answered.is_free(status))
    }

    /// Gives back what is not to be charged, if nobody has to be waited for; whether that was so.
    #[must_use]
    pub fn settle_now(&mut self, status: u16) -> bool {
        if self.is_settled(status) {
            return true;
        }
        if !self.answers.iter().all(Answered::answers_now) {
            return false;
        }
        // Nothing in it waits, so the first poll is the last.
        at_once(self.settle(status)).is_some()
    }

    /// Gives back what is not to be charged for a response of this status.
    pub async fn settle(&mut self, status: u16) {
        let mut has_changed = false;
        for answered in &mut self.answers {
            if answered.is_free(status) {
                answered.give_back_and_look().await;
                has_changed = true;
            }
        }
        if has_changed && self.told.is_some() {
            self.told = Told::of(&self.answers);
        }
    }

    /// Writes the fields of a response, of which `inner` are the figures that a limit within has told.
    /// Each field takes the place of one that is there. The figures are to be put into the
    /// response's extensions, if there is a limit further out.
    pub fn write(
        self,
        inner: Option<&Told>,
        field: &mut dyn FnMut(Field, FieldValue),
    ) -> Option<Told> {
        let told = match self.told {
            Some(own) => own.tighter(inner),
            // Nothing of one's own to say: what was said within stays.
            None => return None,
        };
        self.styles.write(&told, field);
        Some(told)
    }
}
