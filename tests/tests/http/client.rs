//! A client that sends what it is told, malformed or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to a server.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
}

/// A response, its header fields in order, their names in lower case.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Connection {
    pub(crate) fn open(server: SocketAddr) -> Self {
        Self::over(TcpStream::connect(server).expect("the server listens"))
    }

    /// From an address of the loopback's own.
    pub(crate) fn open_from(server: SocketAddr, from: Ipv4Addr) -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.expect("a socket");
        socket.bind(&SocketAddr::from((from, 0)).into()).expect("an address of the loopback");
        socket.connect(&server.into()).expect("the server listens");
        Self::over(socket.into())
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a deadline");
        stream.set_nodelay(true).expect("an option");
        Self { stream: BufReader::new(stream) }
    }

    /// Sends a request and reads the response.
    pub(crate) fn ask(&mut self, method: &str, target: &str, fields: &[(&str, &[u8])]) -> Response {
        let mut request = format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\n").into_bytes();
        for (name, value) in fields {
            request.extend_from_slice(name.as_bytes());
            request.extend_from_slice(b": ");
            request.extend_from_slice(value);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        self.stream.get_mut().write_all(&request).expect("it reads");
        self.read(method)
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line).expect("an answer");
        String::from_utf8_lossy(&line).trim_end().to_owned()
    }

    fn read(&mut self, method: &str) -> Response {
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.expect("a status line");
        let mut fields = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response { status, fields, body: String::new() };
        if method != "HEAD" {
            let length = response.field("content-length").map(str::parse);
            let length = length.expect("a length").expect("a number");
            let mut body = vec![0; length];
            self.stream.read_exact(&mut body).expect("the body");
            response.body = String::from_utf8(body).expect("text");
        }
        response
    }
}

impl Response {
    /// A field that came once, or none.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut found = self.fields.iter().filter(|(this, _)| this == name);
        let field = found.next().map(|(_, value)| &**value);
        assert!(found.next().is_none(), "{name} twice in {:?}", self.fields);
        field
    }

    /// A field that is a number.
    pub(crate) fn number(&self, name: &str) -> u64 {
        let value = self.field(name).unwrap_or_else(|| panic!("no {name} in {:?}", self.fields));
        value.parse().unwrap_or_else(|_| panic!("{name} is {value}"))
    }
}

/// One request on a connection of its own.
pub(crate) fn ask(server: SocketAddr, target: &str, fields: &[(&str, &[u8])]) -> Response {
    Connection::open(server).ask("GET", target, fields)
}
