//! Reads pipeline files from disk.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::codes::Code;
use crate::diagnostic::{LARGEST_FILE, Problem, Report, Source, Span};

pub(crate) fn read(path: &Path) -> Result<Source, Report> {
    let name = path.display().to_string();
    let unreadable =
        |message: String, help: &str| Err(Report::single(Problem::new(Code::UNREADABLE_FILE, message).help(help)));
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return unreadable(
                format!("there is no file \"{name}\""),
                "check the path, or write a first pipeline with `hatir new`",
            );
        }
        Err(error) => return unreadable(format!("cannot open \"{name}\": {error}"), "check who may read the file"),
    };
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return unreadable(
            format!("\"{name}\" is a folder, expected a pipeline file"),
            "name a file in it, such as `pipeline.toml`",
        );
    }
    // Reading stops just past the limit, whatever the size says: a pipe or a device has none.
    let mut bytes = Vec::new();
    if let Err(error) = file.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes) {
        return unreadable(format!("cannot read \"{name}\": {error}"), "check the disk and who may read the file");
    }
    if bytes.len() > LARGEST_FILE {
        return Err(Report::single(too_large(&name)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { name, path: path.to_owned(), text }),
        Err(error) => Err(not_text(&name, path, &error)),
    }
}

pub(crate) fn too_large(name: &str) -> Problem {
    Problem::new(Code::LARGE_FILE, format!("\"{name}\" is larger than 16 MiB"))
        .found("more than 16 MiB", "a pipeline file of at most 16 MiB")
        .help("is this a pipeline file? Data belongs in files of its own, which stages such as `read.file` read")
}

fn not_text(name: &str, path: &Path, error: &std::string::FromUtf8Error) -> Report {
    let valid = error.utf8_error().valid_up_to();
    let bytes = error.as_bytes();
    // The text up to the fault is kept, and the fault shown as the replacement character, so that the line can be shown.
    let rest_of_line = bytes[valid..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| valid + end);
    let mut text = String::from_utf8_lossy(&bytes[..valid]).into_owned();
    text.push_str(&String::from_utf8_lossy(&bytes[valid..rest_of_line]));
    let end = valid + text[valid..].chars().next().map_or(0, char::len_utf8);
    let mut report = Report::new(vec![Source { name: name.to_owned(), path: path.to_owned(), text }]);
    report.extend([Problem::new(Code::NOT_UTF8, format!("\"{name}\" is not UTF-8 text"))
        .at(Span::new(0, valid..end))
        .label(format!("byte {valid} of the file is 0x{:02x}", bytes[valid]))
        .found(format!("the byte 0x{:02x}", bytes[valid]), "UTF-8")
        .help("save the file as UTF-8; from Windows-1254: `iconv -f WINDOWS-1254 -t UTF-8`")]);
    report
}
