//! Fetches one file by HTTP, in as many attempts as it takes.
//!
//! What has come so far stands in a `.part` file; beside it, what tells whether the server still has the same file: the
//! URL and the validator of the answer (a strong `ETag`, or `Last-Modified`). The next attempt, of this run or of
//! another, asks for the rest with `Range` and `If-Range` (RFC 9110, sections 13.1.5 and 14.2), so that a file that
//! changed in between comes whole instead.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::http::{HeaderMap, StatusCode};
use ureq::{Agent, Body};

use super::hash::hash_file;
use super::install::{Event, Progress, Step};
use crate::error::{Error, Result};

/// How files are fetched.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Network {
    /// How long a connection may take to come about; 15 seconds.
    pub connect_timeout: Duration,
    /// How long the server may send nothing; 30 seconds.
    pub stall_timeout: Duration,
    /// How many attempts may fail one after the other without a byte in between; 5.
    pub attempts: u32,
    /// The pause after the first failed attempt; 1 second. It doubles with each further one, up to a minute, which is
    /// the longest that a server's `Retry-After` is followed, too.
    pub pause: Duration,
    /// A proxy to go through; none.
    pub proxy: Option<Proxy>,
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its address, as `http://proxy.example:3128`.
    pub url: String,
    /// Hosts that are reached without it, as a `NO_PROXY` variable lists them.
    pub except: Vec<String>,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(30),
            attempts: 5,
            pause: Duration::from_secs(1),
            proxy: None,
        }
    }
}

const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A file to fetch.
pub(super) struct Wanted<'a> {
    /// Its name, for the progress.
    pub(super) name: &'a str,
    pub(super) url: &'a str,
    /// Where it is collected; the file is complete when `fetch` returns.
    pub(super) part: &'a Path,
    pub(super) bytes: Option<u64>,
    pub(super) sha256: Option<&'a str>,
    /// More than this is refused.
    pub(super) limit: u64,
}

/// What came.
pub(super) struct Fetched {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Why an attempt ended without the file.
enum Failure {
    /// Another attempt may help, after a pause that the server may have named.
    Again {
        problem: String,
        pause: Option<Duration>,
    },
    Final(Error),
}

impl Failure {
    fn again(problem: impl Into<String>) -> Self {
        Self::Again { problem: problem.into(), pause: None }
    }
}

/// What is kept beside a part.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Origin {
    url: String,
    validator: Option<String>,
}

const RUN_AGAIN: &str = "run the same again later: what has come so far is kept, and only the rest is fetched";
const OTHER_WAYS: &str = "check the address and the connection, or install the model from a file that you have";

/// Fetches a file and checks it against what is known of it. What came is kept when it fails, except when it is wrong.
///
/// # Errors
/// [`Error::Fetch`]; [`Error::Checksum`]; [`Error::Io`] when the disk is full.
pub(super) fn fetch(network: &Network, wanted: &Wanted<'_>, progress: &dyn Progress) -> Result<Fetched> {
    check_address(wanted)?;
    let agent = agent(network, wanted.url)?;
    let mut failures = 0;
    // The farthest that an attempt has come: a server that breaks off at the same place for ever makes no progress.
    let mut farthest = 0;
    let mut came_in_pieces = false;
    let mut restarted = false;
    loop {
        let mut part = Part::open(wanted)?;
        farthest = farthest.max(part.length);
        came_in_pieces |= part.length > 0;
        match part.attempt(&agent, wanted, progress) {
            Ok(()) => {
                let length = part.finish(wanted)?;
                let sha256 = check(wanted, length, progress)?;
                match wanted.sha256.filter(|expected| !sha256.eq_ignore_ascii_case(expected)) {
                    None => return Ok(Fetched { bytes: length, sha256 }),
                    Some(expected) => {
                        discard(wanted)?;
                        // The pieces may be those of two files; whole, it deserves one more chance.
                        if came_in_pieces && !restarted {
                            (came_in_pieces, restarted) = (false, true);
                            let problem = "the pieces do not make the file that was expected";
                            progress.report(&Event::Retry { file: wanted.name, problem, pause: Duration::ZERO });
                            continue;
                        }
                        let (from, expected) = (wanted.url.to_owned(), expected.to_owned());
                        return Err(Error::Checksum { from, expected, found: sha256 });
                    }
                }
            }
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Again { problem, pause }) => {
                failures = if part.length > farthest { 1 } else { failures + 1 };
                farthest = farthest.max(part.length);
                if failures >= network.attempts.max(1) {
                    let problem = match failures {
                        1 => problem,
                        _ => format!("{problem} ({failures} attempts)"),
                    };
                    let remedy = if part.length > 0 { RUN_AGAIN } else { OTHER_WAYS };
                    return Err(failed(wanted.url, problem, remedy));
                }
                let doubled = network.pause.saturating_mul(1 << (failures - 1).min(16));
                let pause = pause.unwrap_or(doubled).min(LONGEST_PAUSE);
                progress.report(&Event::Retry { file: wanted.name, problem: &problem, pause });
                std::thread::sleep(pause);
            }
        }
    }
}

/// The hash of the complete part.
fn check(wanted: &Wanted<'_>, length: u64, progress: &dyn Progress) -> Result<String> {
    progress.report(&Event::Begin { step: Step::Check, file: wanted.name, at: 0, bytes: Some(length) });
    let each = &mut |bytes| progress.report(&Event::Advance { bytes });
    hash_file(wanted.part, each).map_err(|error| Error::io("read", wanted.part, error))
}

/// Throws away what has come.
fn discard(wanted: &Wanted<'_>) -> Result<()> {
    for path in [wanted.part, &origin_path(wanted.part)] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", path, error)),
            _ => {}
        }
    }
    Ok(())
}

fn origin_path(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".json");
    name.into()
}

fn failed(url: &str, problem: impl Into<String>, remedy: &str) -> Error {
    Error::Fetch { url: url.to_owned(), problem: problem.into(), remedy: remedy.to_owned() }
}

/// Without a known hash, only the transport vouches for the file; so it must be one that nobody else can change.
fn check_address(wanted: &Wanted<'_>) -> Result<()> {
    if wanted.url.starts_with("https://") {
        return Ok(());
    }
    let Some(rest) = wanted.url.strip_prefix("http://") else {
        return Err(failed(wanted.url, "it is no address of the web", "give one that begins with https://"));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let local = ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| host.strip_prefix(name).is_some_and(|port| port.is_empty() || port.starts_with(':')));
    if local || wanted.sha256.is_some() {
        return Ok(());
    }
    Err(failed(
        wanted.url,
        "no SHA-256 is known for the file, and anybody on the way could change what comes by http",
        "give an address that begins with https://",
    ))
}

fn agent(network: &Network, url: &str) -> Result<Agent> {
    let proxy = network.proxy.as_ref().map(|proxy| build_proxy(proxy, url)).transpose()?;
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(url.starts_with("https://"))
        .proxy(proxy)
        .user_agent(concat!("hatir/", env!("CARGO_PKG_VERSION")))
        .accept_encoding("identity")
        .timeout_resolve(Some(network.connect_timeout))
        .timeout_connect(Some(network.connect_timeout))
        .timeout_recv_response(Some(network.stall_timeout))
        .timeout_per_read(Some(network.stall_timeout))
        .build();
    Ok(Agent::new_with_config(config))
}

fn build_proxy(proxy: &Proxy, url: &str) -> Result<ureq::Proxy> {
    let wrong = |error: ureq::Error| failed(url, format!("the proxy {:?}: {error}", proxy.url), "correct its address");
    let plain = ureq::Proxy::new(&proxy.url).map_err(wrong)?;
    let mut builder = ureq::Proxy::builder(plain.protocol()).host(plain.host()).port(plain.port());
    if let Some(name) = plain.username() {
        builder = builder.username(name);
    }
    if let Some(password) = plain.password() {
        builder = builder.password(password);
    }
    for host in &proxy.except {
        builder = builder.no_proxy(host);
    }
    builder.build().map_err(wrong)
}

/// The file that is being collected.
struct Part {
    file: File,
    length: u64,
    validator: Option<String>,
}

impl Part {
    /// Opens what an earlier attempt left, or begins anew when that is of no use.
    fn open(wanted: &Wanted<'_>) -> Result<Self> {
        let origin: Origin = fs::read(origin_path(wanted.part))
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .filter(|origin: &Origin| origin.url == wanted.url)
            .unwrap_or_default();
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(wanted.part);
        let file = opened.map_err(|error| Error::io("open", wanted.part, error))?;
        let length = file.metadata().map_err(|error| Error::io("read", wanted.part, error))?.len();
        let mut part = Self { file, length, validator: origin.validator };
        // With a known hash, the pieces of two files are found out at the end.
        let can_go_on = origin.url == wanted.url && (part.validator.is_some() || wanted.sha256.is_some());
        if part.length > 0 && (!can_go_on || wanted.bytes.is_some_and(|bytes| part.length > bytes)) {
            part.restart(wanted)?;
        }
        Ok(part)
    }

    fn restart(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        self.validator = None;
        if std::mem::take(&mut self.length) == 0 {
            return Ok(());
        }
        self.file.set_len(0).map_err(|error| Error::io("write", wanted.part, error))
    }

    /// One request, and as much of the file as it brings.
    fn attempt(
        &mut self,
        agent: &Agent,
        wanted: &Wanted<'_>,
        progress: &dyn Progress,
    ) -> std::result::Result<(), Failure> {
        if wanted.bytes == Some(self.length) {
            return Ok(());
        }
        let mut request = agent.get(wanted.url);
        if self.length > 0 {
            request = request.header("Range", format!("bytes={}-", self.length));
            if let Some(validator) = &self.validator {
                request = request.header("If-Range", validator);
            }
        }
        let response = request.call().map_err(|error| self.no_answer(wanted, &error))?;
        let (head, body) = response.into_parts();
        match head.status {
            StatusCode::OK => self.restart(wanted).map_err(Failure::Final)?,
            StatusCode::PARTIAL_CONTENT => self.check_range(&head.headers, wanted)?,
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let whole = content_range(&head.headers).is_some_and(|(_, total)| total == Some(self.length));
                if whole && wanted.bytes.is_none() {
                    return Ok(());
                }
                self.restart(wanted).map_err(Failure::Final)?;
                return Err(Failure::again("the server has less of the file than has come already"));
            }
            status => return Err(refused(wanted, status, &head.headers)),
        }
        let total = self.total(&head.headers, &body, wanted)?;
        self.note_origin(&head.headers, wanted).map_err(Failure::Final)?;
        progress.report(&Event::Begin { step: Step::Fetch, file: wanted.name, at: self.length, bytes: total });
        self.take(body, total, wanted, progress)
    }

    fn no_answer(&self, wanted: &Wanted<'_>, error: &ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(timeout) => Failure::again(format!("the server did not answer in time ({timeout})")),
            ureq::Error::Io(error) => Failure::again(error.to_string()),
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed if self.length > 0 => {
                Failure::again(error.to_string())
            }
            // Anything else does not mend itself: an address, a certificate, a redirection, no network at all.
            error => Failure::Final(failed(wanted.url, error.to_string(), OTHER_WAYS)),
        }
    }

    /// Whether a part of the file that the server sends follows what is there.
    fn check_range(&mut self, headers: &HeaderMap, wanted: &Wanted<'_>) -> std::result::Result<(), Failure> {
        let follows = content_range(headers).is_some_and(|(start, _)| start == Some(self.length));
        let same = match (&self.validator, validator(headers)) {
            (Some(before), Some(now)) => *before == now,
            _ => true,
        };
        if follows && same {
            return Ok(());
        }
        self.restart(wanted).map_err(Failure::Final)?;
        Err(Failure::again("the server sent another part of the file than was asked for"))
    }

    /// How long the file will be, if the server says so; one that is too long or of another length is refused.
    fn total(
        &self,
        headers: &HeaderMap,
        body: &Body,
        wanted: &Wanted<'_>,
    ) -> std::result::Result<Option<u64>, Failure> {
        let stated = content_range(headers).and_then(|(_, total)| total);
        let total = stated.or_else(|| body.content_length().map(|rest| self.length.saturating_add(rest)));
        match (total, wanted.bytes) {
            (Some(total), Some(expected)) if total != expected => {
                let problem = format!("the file has {total} bytes there, expected {expected}: it is another one");
                discard(wanted).map_err(Failure::Final)?;
                Err(Failure::Final(failed(wanted.url, problem, OTHER_WAYS)))
            }
            (Some(total), _) if total > wanted.limit => Err(too_long(wanted)),
            _ => Ok(total.or(wanted.bytes)),
        }
    }

    /// Notes what the next attempt needs to go on with this file, before the first byte of it.
    fn note_origin(&mut self, headers: &HeaderMap, wanted: &Wanted<'_>) -> Result<()> {
        if self.length > 0 && self.validator.is_some() {
            return Ok(());
        }
        self.validator = validator(headers);
        let origin = Origin { url: wanted.url.to_owned(), validator: self.validator.clone() };
        let path = origin_path(wanted.part);
        // Strings and options of strings are what JSON can say.
        let text = serde_json::to_vec(&origin).unwrap_or_default();
        fs::write(&path, text).map_err(|error| Error::io("write", &path, error))
    }

    fn take(
        &mut self,
        body: Body,
        total: Option<u64>,
        wanted: &Wanted<'_>,
        progress: &dyn Progress,
    ) -> std::result::Result<(), Failure> {
        let unwritten = |error| Failure::Final(Error::io("write", wanted.part, error));
        self.file.seek(SeekFrom::Start(self.length)).map_err(unwritten)?;
        let limit = total.unwrap_or(wanted.limit).min(wanted.limit);
        let mut reader = body.into_with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Failure::again(self.broke_off(total, &error.to_string()))),
            };
            if self.length + read as u64 > limit {
                discard(wanted).map_err(Failure::Final)?;
                return Err(too_long(wanted));
            }
            self.file.write_all(&buffer[..read]).map_err(unwritten)?;
            self.length += read as u64;
            progress.report(&Event::Advance { bytes: read as u64 });
        }
        match total {
            Some(total) if self.length < total => {
                Err(Failure::again(self.broke_off(Some(total), "the connection was closed")))
            }
            _ => Ok(()),
        }
    }

    fn broke_off(&self, total: Option<u64>, why: &str) -> String {
        match total {
            Some(total) => format!("{why} after {} of {total} bytes", self.length),
            None => format!("{why} after {} bytes", self.length),
        }
    }

    /// Syncs the complete file; its length.
    fn finish(self, wanted: &Wanted<'_>) -> Result<u64> {
        self.file.sync_all().map_err(|error| Error::io("write", wanted.part, error))?;
        Ok(self.length)
    }
}

fn too_long(wanted: &Wanted<'_>) -> Failure {
    let problem =
        format!("the file is longer than {} bytes, the most that is taken", wanted.bytes.unwrap_or(wanted.limit));
    Failure::Final(failed(wanted.url, problem, OTHER_WAYS))
}

/// A status that brings no file.
fn refused(wanted: &Wanted<'_>, status: StatusCode, headers: &HeaderMap) -> Failure {
    let answer = format!("the server answers {status}");
    match status.as_u16() {
        408 | 429 | 500..=599 => {
            let seconds = headers.get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
            Failure::Again { problem: answer, pause: seconds.map(Duration::from_secs) }
        }
        404 | 410 => Failure::Final(failed(
            wanted.url,
            format!("{answer}: there is no such file"),
            "the publisher may have moved it; name a mirror that has it, or install the model from a file that you have",
        )),
        401 | 403 => Failure::Final(failed(
            wanted.url,
            format!("{answer}: it does not hand the file to everybody"),
            "name a mirror that does, or install the model from a file that you have",
        )),
        _ => Failure::Final(failed(wanted.url, answer, OTHER_WAYS)),
    }
}

/// What tells one version of a file from another: weak tags do not, byte for byte.
fn validator(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| text("last-modified"))
}

/// Start and total of a `Content-Range`, such as `bytes 100-199/200` or `bytes */200`.
fn content_range(headers: &HeaderMap) -> Option<(Option<u64>, Option<u64>)> {
    let value = headers.get("content-range")?.to_str().ok()?;
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let start = range.split_once('-').and_then(|(start, _)| start.trim().parse().ok());
    Some((start, total.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'a>(url: &'a str, sha256: Option<&'a str>) -> Wanted<'a> {
        Wanted { name: "model.onnx", url, part: Path::new("part"), bytes: None, sha256, limit: 1 }
    }

    #[test]
    fn without_a_known_hash_the_way_must_be_safe() {
        let fine = |url, hash| check_address(&wanted(url, hash)).is_ok();
        assert!(fine("https://example.org/a", None));
        assert!(fine("http://example.org/a", Some("00")));
        assert!(!fine("http://example.org/a", None));
        for url in ["http://localhost/a", "http://127.0.0.1:8080/a", "http://[::1]:80/a"] {
            assert!(fine(url, None), "{url}");
        }
        for url in ["http://localhost.example.org/a", "http://127.0.0.1.example.org/", "http://localhost@example.org/"]
        {
            assert!(!fine(url, None), "{url}");
        }
        assert!(!fine("ftp://example.org/a", Some("00")) && !fine("file:///etc/passwd", None));
    }

    #[test]
    fn headers_are_read() {
        let headers = |pairs: &[(&'static str, &'static str)]| -> HeaderMap {
            pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
        };
        assert_eq!(validator(&headers(&[("etag", "\"a\""), ("last-modified", "x")])).as_deref(), Some("\"a\""));
        assert_eq!(validator(&headers(&[("etag", "W/\"a\""), ("last-modified", "x")])).as_deref(), Some("x"));
        assert_eq!(validator(&headers(&[("etag", "W/\"a\"")])), None);
        let range = |value| content_range(&headers(&[("content-range", value)]));
        assert_eq!(range("bytes 100-199/200"), Some((Some(100), Some(200))));
        assert_eq!(range("bytes 100-199/*"), Some((Some(100), None)));
        assert_eq!(range("bytes */200"), Some((None, Some(200))));
        assert_eq!(range("pages 1-2/3"), None);
    }

    #[test]
    fn a_proxy_keeps_its_exceptions() {
        let proxy =
            Proxy { url: "http://me:secret@proxy.example:3128".to_owned(), except: vec!["localhost".to_owned()] };
        let built = build_proxy(&proxy, "https://example.org").unwrap();
        assert_eq!((built.host(), built.port(), built.password()), ("proxy.example", 3128, Some("secret")));
        assert!(built.is_no_proxy(&"http://localhost/a".parse().unwrap()));
        assert!(!built.is_no_proxy(&"http://example.org/a".parse().unwrap()));
        let wrong = Proxy { url: "gopher://x".to_owned(), except: Vec::new() };
        assert!(build_proxy(&wrong, "https://example.org").unwrap_err().to_string().contains("the proxy"));
    }
}
