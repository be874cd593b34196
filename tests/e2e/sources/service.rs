//! A web service that writes down what it is asked. It ends with the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// One request, as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and target: `GET /a?b`.
    pub what: String,
    /// The head's other lines, in lower case up to the colon.
    pub headers: Vec<String>,
    pub body: String,
}

impl Asked {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.iter().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(own, _)| *own == name)
            .map(|(_, value)| value)
            .next()
    }
}

/// A service on a free port of this machine.
pub struct Service {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Service {
    /// `answer` gives status, further header lines and body.
    pub fn start(
        answer: impl Fn(&Asked) -> (u16, String, String) + Send + Sync + 'static,
    ) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let seen = Arc::clone(&asked);
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || one(stream, &seen, &*answer));
            }
        });
        Service { port, asked }
    }

    /// All requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn one(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Asked>>,
    answer: &dyn Fn(&Asked) -> (u16, String, String),
) {
    let Some(asked) = read(&stream) else { return };
    seen.lock().unwrap().push(asked.clone());
    let (status, headers, body) = answer(&asked);
    // Who asked may be gone; that is nothing to this side.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        let length = reader.read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end().to_owned())
    };
    let what = line()?;
    let mut headers = Vec::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        headers.push(format!("{}: {value}", name.to_lowercase()));
    }
    let mut asked = Asked {
        what: what.trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: String::new(),
    };
    let length = asked.header("content-length").unwrap_or("0").parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}
