//! Folders and archives that hold a model: what is in them, and single files out of them.
//!
//! Nothing is unpacked under a name that an archive gives: each file is written where the caller says. An archive that
//! has a path leading out of itself is refused all the same, since it was made to do harm.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::hash::hexadecimal;
use crate::error::{Error, Result};

/// How many files are looked at; a model has a dozen.
const MOST_MEMBERS: usize = 20_000;

/// How deep folders are looked into.
const DEEPEST: usize = 6;

/// The most bytes that a compressed archive is read to.
const MOST_UNPACKED: u64 = 16 << 30;

/// A file, a folder or an archive.
#[derive(Debug, Clone)]
pub(super) struct Bundle {
    pub(super) path: PathBuf,
    form: Form,
    pub(super) members: Vec<Member>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One file that is no archive; it is the only member.
    File,
    Folder,
    Zip,
    Tar,
    TarGz,
}

/// A file in a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// Its path in the bundle, with slashes.
    pub(super) name: String,
    /// Its bytes as the bundle states them.
    pub(super) bytes: u64,
    index: usize,
}

impl Member {
    /// Its name without folders.
    pub(super) fn base(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or_default()
    }

    /// The folder it is in, with a slash at the end, or nothing.
    pub(super) fn folder(&self) -> &str {
        &self.name[..self.name.len() - self.base().len()]
    }

    /// How many folders it is in.
    pub(super) fn depth(&self) -> usize {
        self.name.matches('/').count()
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl Bundle {
    /// Looks what is at the path.
    ///
    /// # Errors
    /// [`Error::InvalidSource`] when there is nothing, or an archive that cannot be read or leads out of itself;
    /// [`Error::Io`].
    pub(super) fn open(path: &Path) -> Result<Self> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(invalid(path, "there is no such file or folder", "check the path"));
            }
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let form = if metadata.is_dir() { Form::Folder } else { form_of(path)? };
        let members = match form {
            Form::File => vec![Member { name: base_of(path), bytes: metadata.len(), index: 0 }],
            Form::Folder => list_folder(path)?,
            Form::Zip => list_zip(path)?,
            Form::Tar | Form::TarGz => list_tar(path, form)?,
        };
        Ok(Self { path: path.to_path_buf(), form, members })
    }

    /// Whether it is a single file that is no archive.
    pub(super) fn is_file(&self) -> bool {
        self.form == Form::File
    }

    /// The member of this path.
    pub(super) fn member(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Where a member comes from, for people.
    pub(super) fn place(&self, member: &Member) -> String {
        match self.form {
            Form::File => self.path.display().to_string(),
            Form::Folder => self.path.join(&member.name).display().to_string(),
            Form::Zip | Form::Tar | Form::TarGz => format!("{} in {}", member.name, self.path.display()),
        }
    }

    /// Writes a member to a new file and syncs it; `each` hears how many bytes each piece had.
    ///
    /// # Errors
    /// [`Error::InvalidSource`] when the member has more than `limit` bytes, or the bundle is damaged; [`Error::Io`]
    /// when the disk is full. What was written of the file is left for the caller to remove then.
    pub(super) fn extract(&self, member: &Member, to: &Path, limit: u64, each: &mut dyn FnMut(u64)) -> Result<Written> {
        let mut file = File::create_new(to).map_err(|error| Error::io("create", to, error))?;
        let written = self.read(member, limit, &mut |bytes| {
            each(bytes.len() as u64);
            file.write_all(bytes).map_err(|error| Error::io("write", to, error))
        })?;
        file.sync_all().map_err(|error| Error::io("write", to, error))?;
        Ok(written)
    }

    /// The text of a small member.
    pub(super) fn text(&self, member: &Member, limit: u64) -> Result<String> {
        let mut text = Vec::new();
        self.read(member, limit, &mut |bytes| {
            text.extend_from_slice(bytes);
            Ok(())
        })?;
        String::from_utf8(text)
            .map_err(|_| invalid(&self.path, format!("{} is no text in UTF-8", member.name), "correct it"))
    }

    /// Reads a member piece by piece.
    fn read(&self, member: &Member, limit: u64, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<Written> {
        if member.bytes > limit {
            return Err(self.too_large(member, limit));
        }
        let mut pour = |reader: &mut dyn Read| self.pour(reader, member, limit, sink);
        match self.form {
            Form::File | Form::Folder => {
                let path = if self.form == Form::File { self.path.clone() } else { self.path.join(&member.name) };
                let mut file = File::open(&path).map_err(|error| Error::io("open", &path, error))?;
                pour(&mut file)
            }
            Form::Zip => {
                let mut archive = open_zip(&self.path)?;
                let mut file =
                    archive.by_index(member.index).map_err(|error| damaged(&self.path, &error.to_string()))?;
                pour(&mut file)
            }
            Form::Tar | Form::TarGz => {
                let mut archive = tar::Archive::new(open_tar(&self.path, self.form)?);
                let mut entries = archive.entries().map_err(|error| damaged(&self.path, &error.to_string()))?;
                match entries.nth(member.index) {
                    Some(Ok(mut entry)) => pour(&mut entry),
                    Some(Err(error)) => Err(damaged(&self.path, &error.to_string())),
                    None => Err(damaged(&self.path, "it has become shorter")),
                }
            }
        }
    }

    fn pour(
        &self,
        reader: &mut dyn Read,
        member: &Member,
        limit: u64,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Written> {
        let mut hasher = Sha256::new();
        let mut bytes = 0;
        let mut buffer = vec![0; 1 << 18];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    bytes += read as u64;
                    // What an archive states of its sizes may be a lie.
                    if bytes > limit {
                        return Err(self.too_large(member, limit));
                    }
                    hasher.update(&buffer[..read]);
                    sink(&buffer[..read])?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => match self.form {
                    Form::File | Form::Folder => {
                        return Err(Error::io("read", Path::new(&self.place(member)), error));
                    }
                    Form::Zip | Form::Tar | Form::TarGz => {
                        return Err(damaged(&self.path, &format!("{}: {error}", member.name)));
                    }
                },
            }
        }
        Ok(Written { bytes, sha256: hexadecimal(&hasher.finalize()) })
    }

    fn too_large(&self, member: &Member, limit: u64) -> Error {
        let problem = format!("{} has more than {limit} bytes, the most that is taken", member.name);
        invalid(&self.path, problem, "take the model from a source that you trust")
    }
}

pub(super) fn invalid(path: &Path, problem: impl Into<String>, remedy: &str) -> Error {
    Error::InvalidSource { path: path.to_path_buf(), problem: problem.into(), remedy: remedy.to_owned() }
}

fn damaged(path: &Path, problem: &str) -> Error {
    invalid(path, format!("the archive is damaged ({problem})"), "fetch it again")
}

fn base_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// What a file is by its first bytes; names lie, and wheels are zip archives.
fn form_of(path: &Path) -> Result<Form> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut start));
    read.map_err(|error| Error::io("read", path, error))?;
    // `ustar` stands at offset 257 of the header of POSIX and GNU archives alike.
    Ok(match start.as_slice() {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Form::Zip,
        [0x1f, 0x8b, ..] => Form::TarGz,
        start if start.get(257..262) == Some(b"ustar") => Form::Tar,
        _ => Form::File,
    })
}

fn list_folder(root: &Path) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    let mut open = vec![(String::new(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let path = root.join(&folder);
        for entry in fs::read_dir(&path).map_err(|error| Error::io("read", &path, error))? {
            let entry = entry.map_err(|error| Error::io("read", &path, error))?;
            // A name that is no Unicode is none that is looked for.
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            if name.starts_with('.') {
                continue;
            }
            let name = format!("{folder}{name}");
            if kind.is_dir() && depth + 1 < DEEPEST {
                open.push((format!("{name}/"), depth + 1));
                continue;
            }
            // Links to files are followed, as download caches are made of them; links to folders are not.
            if let Ok(metadata) = fs::metadata(entry.path())
                && metadata.is_file()
            {
                add(&mut members, root, Member { name, bytes: metadata.len(), index: 0 })?;
            }
        }
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}

fn add(members: &mut Vec<Member>, path: &Path, member: Member) -> Result<()> {
    if members.len() == MOST_MEMBERS {
        let problem = format!("it holds more than {MOST_MEMBERS} files");
        return Err(invalid(path, problem, "name the folder or the archive of the model itself"));
    }
    members.push(member);
    Ok(())
}

fn open_zip(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    ZipArchive::new(BufReader::new(file)).map_err(|error| damaged(path, &error.to_string()))
}

fn list_zip(path: &Path) -> Result<Vec<Member>> {
    let archive = open_zip(path)?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| damaged(path, &error.to_string()))?;
        let name = entry.name().map_err(|error| damaged(path, &error.to_string()))?.into_owned();
        check_inside(path, &name)?;
        if entry.is_file() {
            add(&mut members, path, Member { name, bytes: entry.size(), index })?;
        }
    }
    Ok(members)
}

fn open_tar(path: &Path, form: Form) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(|error| Error::io("open", path, error))?;
    let file = BufReader::with_capacity(1 << 16, file);
    Ok(match form {
        Form::TarGz => Box::new(MultiGzDecoder::new(file).take(MOST_UNPACKED)),
        _ => Box::new(file),
    })
}

fn list_tar(path: &Path, form: Form) -> Result<Vec<Member>> {
    let mut archive = tar::Archive::new(open_tar(path, form)?);
    let mut members = Vec::new();
    let entries = archive.entries().map_err(|error| damaged(path, &error.to_string()))?;
    for (index, entry) in entries.enumerate() {
        let entry = entry.map_err(|error| damaged(path, &error.to_string()))?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let name = name.strip_prefix("./").unwrap_or(&name).to_owned();
        check_inside(path, &name)?;
        if entry.header().entry_type().is_file() {
            add(&mut members, path, Member { name, bytes: entry.size(), index })?;
        }
    }
    Ok(members)
}

/// Refuses a path that leads out of the archive, on any system.
fn check_inside(path: &Path, name: &str) -> Result<()> {
    let mut steps = name.split(['/', '\\']);
    let drive = name.as_bytes().get(1) == Some(&b':');
    if name.starts_with(['/', '\\']) || name.contains('\0') || drive || steps.any(|step| step == "..") {
        let problem = format!("it holds a path that leads out of it, {name:?}");
        return Err(invalid(path, problem, "take the model from a source that you trust"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_out_are_refused() {
        for name in ["../a", "a/../../b", "/etc/passwd", "..", "a\\..\\b", "\\\\host\\share", "C:\\a", "c:a", "a\0b"] {
            assert!(check_inside(Path::new("x.zip"), name).is_err(), "{name:?}");
        }
        for name in ["a", "a/b.onnx", "./a", "a..b/c", "...", "a/"] {
            assert!(check_inside(Path::new("x.zip"), name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_member_knows_its_folder() {
        let member = Member { name: "a/b/c.onnx".to_owned(), bytes: 0, index: 0 };
        assert_eq!((member.base(), member.folder(), member.depth()), ("c.onnx", "a/b/", 2));
        let member = Member { name: "c.onnx".to_owned(), bytes: 0, index: 0 };
        assert_eq!((member.base(), member.folder(), member.depth()), ("c.onnx", "", 0));
    }

    #[test]
    fn folders_are_read_through_links_to_files_only() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("model/onnx")).unwrap();
        fs::write(root.path().join("blob"), "bytes").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../../blob", root.path().join("model/onnx/model.onnx")).unwrap();
            std::os::unix::fs::symlink("..", root.path().join("model/loop")).unwrap();
        }
        #[cfg(not(unix))]
        fs::write(root.path().join("model/onnx/model.onnx"), "bytes").unwrap();
        let bundle = Bundle::open(&root.path().join("model")).unwrap();
        let names: Vec<&str> = bundle.members.iter().map(|member| member.name.as_str()).collect();
        assert_eq!(names, ["onnx/model.onnx"]);
        assert_eq!(bundle.text(&bundle.members[0], 5).unwrap(), "bytes");
        let error = bundle.text(&bundle.members[0], 4).unwrap_err().to_string();
        assert!(error.contains("onnx/model.onnx has more than 4 bytes"), "{error}");
    }

    /// What an archive states of a file's size is not believed.
    #[test]
    fn an_archive_that_lies_about_a_size_is_not_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.zip");
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        let deflated = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        zip.start_file("tokenizer.json", deflated).unwrap();
        zip.write_all(&vec![b' '; 1_000_000]).unwrap();
        zip.finish().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        assert!(bytes.len() < 5_000, "{}", bytes.len());
        let size = 1_000_000_u32.to_le_bytes();
        for at in 0..bytes.len() - 4 {
            if bytes[at..at + 4] == size {
                bytes[at..at + 4].copy_from_slice(&10_u32.to_le_bytes());
            }
        }
        fs::write(&path, bytes).unwrap();
        let bundle = Bundle::open(&path).unwrap();
        assert_eq!(bundle.members[0].bytes, 10);
        let to = folder.path().join("out");
        bundle.extract(&bundle.members[0], &to, 2_000, &mut |_| {}).unwrap_err();
        assert!(fs::metadata(&to).unwrap().len() <= 2_000);
    }

    #[test]
    fn an_honest_bomb_is_refused_before_it_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.tgz");
        let gzip = flate2::write::GzEncoder::new(File::create(&path).unwrap(), flate2::Compression::fast());
        let mut tar = tar::Builder::new(gzip);
        let mut header = tar::Header::new_gnu();
        header.set_size(1_000_000);
        tar.append_data(&mut header, "./tokenizer.json", io::Read::take(io::repeat(b' '), 1_000_000)).unwrap();
        tar.into_inner().unwrap().finish().unwrap();
        let bundle = Bundle::open(&path).unwrap();
        assert_eq!((bundle.members[0].name.as_str(), bundle.members[0].bytes), ("tokenizer.json", 1_000_000));
        let to = folder.path().join("out");
        let error = bundle.extract(&bundle.members[0], &to, 999_999, &mut |_| {}).unwrap_err().to_string();
        assert!(error.contains("tokenizer.json has more than 999999 bytes"), "{error}");
        let written = bundle.extract(&bundle.members[0], &folder.path().join("in"), 1_000_000, &mut |_| {}).unwrap();
        assert_eq!(written.bytes, 1_000_000);
    }
}
