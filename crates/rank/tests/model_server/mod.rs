//! A small HTTP server that misbehaves on demand.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) if_range: Option<String>,
}

/// What it gets.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The file with this tag; ranges are honoured as RFC 9110 says.
    File { body: Vec<u8>, tag: Option<&'static str> },
    /// The whole file, whatever was asked for.
    Whole(Vec<u8>),
    /// The file, but the connection ends after so many bytes of the answer's body.
    Cut { body: Vec<u8>, tag: Option<&'static str>, after: usize },
    /// The file, but nothing comes any more after so many bytes of the answer's body, until the client gives up.
    Stall { body: Vec<u8>, tag: Option<&'static str>, after: usize },
    /// A part that is not the one that was asked for.
    WrongRange(Vec<u8>),
    /// A status without a file.
    Status(u16, &'static str),
    /// Another address.
    Redirect(String),
}

/// Serves until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// `answer` gets the request and its number among those for the same path, from 0.
    pub(crate) fn start(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let answer = Arc::new(answer);
        let thread = {
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            std::thread::spawn(move || {
                for stream in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                    std::thread::spawn(move || serve(stream.unwrap(), &requests, &*answer));
                }
            })
        };
        Self { url: format!("http://127.0.0.1:{port}"), port, requests, stop, thread: Some(thread) }
    }

    /// The requests so far, in the order in which they came.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The requests for paths with this end.
    pub(crate) fn requests_for(&self, end: &str) -> Vec<Request> {
        self.requests().into_iter().filter(|request| request.path.ends_with(end)).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn serve(stream: TcpStream, requests: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize) -> Answer) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let mut request = Request { path, range: None, if_range: None };
    for line in lines {
        let line = line.unwrap();
        let Some((name, value)) = line.split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => request.range = Some(value.to_owned()),
            "if-range" => request.if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    let number = {
        let mut requests = requests.lock().unwrap();
        let number = requests.iter().filter(|earlier| earlier.path == request.path).count();
        requests.push(request.clone());
        number
    };
    reply(stream, &request, answer(&request, number));
}

fn reply(mut stream: TcpStream, request: &Request, answer: Answer) {
    let (body, tag, after, stall) = match answer {
        Answer::File { body, tag } => (body, tag, usize::MAX, false),
        Answer::Cut { body, tag, after } => (body, tag, after, false),
        Answer::Stall { body, tag, after } => (body, tag, after, true),
        Answer::Whole(body) => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            stream.write_all(head.as_bytes()).unwrap();
            let _ = stream.write_all(&body);
            return;
        }
        Answer::WrongRange(body) => {
            let head = format!(
                "HTTP/1.1 206 Partial Content\r\nContent-Length: {0}\r\nContent-Range: bytes 0-{1}/{0}\r\n\
                 Connection: close\r\n\r\n",
                body.len(),
                body.len() - 1
            );
            stream.write_all(head.as_bytes()).unwrap();
            let _ = stream.write_all(&body);
            return;
        }
        Answer::Status(status, headers) => {
            let head = format!("HTTP/1.1 {status} Odd\r\nContent-Length: 4\r\nConnection: close\r\n{headers}\r\nodd\n");
            stream.write_all(head.as_bytes()).unwrap();
            return;
        }
        Answer::Redirect(to) => {
            let head =
                format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            return;
        }
    };
    let current = match (&request.if_range, tag) {
        (None, _) => true,
        (Some(asked), Some(tag)) => asked == tag,
        (Some(_), None) => false,
    };
    let start = request
        .range
        .as_ref()
        .filter(|_| current)
        .map_or(0, |range| range.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap());
    let mut head = match start {
        0 => "HTTP/1.1 200 OK\r\n".to_owned(),
        start => format!(
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{}\r\n",
            body.len() - 1,
            body.len()
        ),
    };
    if let Some(tag) = tag {
        head.push_str(&format!("ETag: {tag}\r\n"));
    }
    head.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len() - start));
    stream.write_all(head.as_bytes()).unwrap();
    let rest = &body[start..];
    let _ = stream.write_all(&rest[..after.min(rest.len())]);
    let _ = stream.flush();
    if stall && after < rest.len() {
        // Longer than any client of the tests waits, and short enough to end with them.
        std::thread::sleep(Duration::from_secs(3));
    }
}
