//! The shared library of ONNX Runtime: finding it, and loading it once.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use crate::error::{Error, Result};

/// The oldest minor version of ONNX Runtime 1 that can be used.
const OLDEST: u32 = ort::MINOR_VERSION;

const REMEDY: &str = "get it by `hatir model install onnxruntime`, by `pip install onnxruntime`, or name its library";

/// Where the shared library of ONNX Runtime is looked for.
///
/// Only the places that are named count, in their order: nothing of the environment is read.
///
/// ```
/// use hatir_rank::RuntimeSearch;
///
/// # let place = tempfile::tempdir()?;
/// # let models = place.path();
/// # let name = format!("{}onnxruntime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
/// std::fs::create_dir(models.join("onnxruntime"))?;
/// std::fs::write(models.join("onnxruntime").join(&name), "the library")?;
///
/// let search = RuntimeSearch::default().folder(models).folder("/usr/lib/python3/site-packages");
/// assert_eq!(search.find()?, models.join("onnxruntime").join(&name));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RuntimeSearch {
    places: Vec<Place>,
}

#[derive(Debug, Clone)]
enum Place {
    Exactly(PathBuf),
    Within(PathBuf),
}

impl RuntimeSearch {
    /// Adds the library itself, or a folder: when it is not there, the search fails, whatever comes after it. A person
    /// who names a library wants no other.
    #[must_use]
    pub fn exactly(mut self, path: impl Into<PathBuf>) -> Self {
        self.places.push(Place::Exactly(path.into()));
        self
    }

    /// Adds a folder that may hold the library, itself or in its `onnxruntime` or `onnxruntime/capi`: a folder of
    /// models, a folder of libraries, or a `site-packages` of Python.
    #[must_use]
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.places.push(Place::Within(path.into()));
        self
    }

    /// The first library of the places, and of several in one folder the newest by its name.
    ///
    /// # Errors
    /// [`Error::Runtime`] lists where it was looked for.
    pub fn find(&self) -> Result<PathBuf> {
        for place in &self.places {
            match place {
                Place::Exactly(path) if path.is_file() => return Ok(path.clone()),
                Place::Exactly(path) => {
                    return library_in(path).ok_or_else(|| {
                        let found = if path.is_dir() { "holds no library of it" } else { "does not exist" };
                        missing(&format!("{} {found}", path.display()))
                    });
                }
                Place::Within(path) => {
                    if let Some(library) = library_in(path) {
                        return Ok(library);
                    }
                }
            }
        }
        let places: Vec<String> = self
            .places
            .iter()
            .map(|place| match place {
                Place::Exactly(path) | Place::Within(path) => path.display().to_string(),
            })
            .collect();
        Err(missing(&match places.as_slice() {
            [] => "no place was named".to_owned(),
            places => format!("it is not in {}", places.join(", nor in ")),
        }))
    }
}

fn missing(found: &str) -> Error {
    Error::Runtime { problem: format!("there is no ONNX Runtime: {found}"), remedy: REMEDY.to_owned() }
}

fn library_in(folder: &Path) -> Option<PathBuf> {
    let folders = [folder.to_path_buf(), folder.join("onnxruntime"), folder.join("onnxruntime/capi")];
    folders.iter().find_map(|folder| {
        let entries = fs::read_dir(folder).ok()?;
        let libraries = entries.flatten().filter_map(|entry| {
            let version = version_of(entry.file_name().to_str()?)?;
            let path = entry.path();
            // A link counts as what it leads to.
            path.is_file().then_some((version, path))
        });
        libraries.max().map(|(_, path)| path)
    })
}

/// The version in a library's name on this system; an empty one when it has none, and `None` for other files.
fn version_of(name: &str) -> Option<Vec<u32>> {
    let version = if cfg!(windows) {
        return name.eq_ignore_ascii_case("onnxruntime.dll").then(Vec::new);
    } else if cfg!(target_vendor = "apple") {
        name.strip_prefix("libonnxruntime")?.strip_suffix(".dylib")?
    } else {
        name.strip_prefix("libonnxruntime.so")?
    };
    match version {
        "" => Some(Vec::new()),
        version => version.strip_prefix('.')?.split('.').map(|part| part.parse().ok()).collect(),
    }
}

/// The library, loaded.
#[derive(Debug, Clone)]
pub(super) struct Runtime {
    pub(super) environment: Environment,
    /// Tells this build of the library from others.
    pub(super) build: &'static str,
}

/// Loads the library, unless this process has loaded one already: then that one is used, wherever it came from.
pub(super) fn load(search: &RuntimeSearch) -> Result<Runtime> {
    static LOADED: Mutex<Option<Runtime>> = Mutex::new(None);
    // Nothing under this lock panics half-way, so that a poisoned one holds what it should.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(runtime) = &*loaded {
        return Ok(runtime.clone());
    }
    let path = search.find()?;
    let unusable = |problem: String| Error::Runtime {
        problem: format!("{} cannot be loaded: {problem}", path.display()),
        remedy: REMEDY.to_owned(),
    };
    // A relative path would be sought beside the program.
    let absolute = std::path::absolute(&path).map_err(|error| unusable(error.to_string()))?;
    check_whole(&absolute).map_err(unusable)?;
    say_no_to_reports();
    let builder = ort::init_from(&absolute).map_err(|error| match error {
        ort::LoadDynamicError::Dlopen { error, .. } => unusable(with_causes(&error)),
        ort::LoadDynamicError::MissingApi { .. } => unusable("it is another library".to_owned()),
        ort::LoadDynamicError::BadVersion { version_str, .. } => Error::Runtime {
            problem: format!("{} is ONNX Runtime {version_str}, 1.{OLDEST} or newer is needed", path.display()),
            remedy: REMEDY.to_owned(),
        },
        ort::LoadDynamicError::InvalidVersionString => unusable("it does not tell its version".to_owned()),
    })?;
    let environment = builder.with_name("hatir").with_telemetry(false).build();
    let environment = environment.map_err(|error| unusable(error.to_string()))?;
    environment.set_log_level(ort::logging::LogLevel::Fatal);
    let runtime = Runtime { environment, build: ort::info() };
    Ok(loaded.insert(runtime).clone())
}

/// Builds of ONNX Runtime by Microsoft tell Microsoft what they do, since 1.32 on Linux too, and write an identity into
/// the user's cache folder as soon as they start. The call that switches this off needs the library started, which is
/// too late; only this variable, which the library reads when it starts, is early enough.
#[expect(unsafe_code, reason = "the library has no other switch that works before it starts")]
fn say_no_to_reports() {
    // SAFETY: no other thread may read or write the environment by means of C meanwhile; what Rust does with it waits.
    // This runs once in a process, for an instant, before the first model is opened. Of the C code in this program,
    // only the resolution of host names and time zones reads the environment, none of it while a model is opened.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
}

/// The loader's own words stand in the cause.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Finds out what would end the process if it were loaded: a library that lacks its end, which the loader maps and
/// then reads beyond the file.
fn check_whole(path: &Path) -> std::result::Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let mut start = Vec::new();
    file.by_ref().take(64).read_to_end(&mut start).map_err(|error| error.to_string())?;
    let is_elf = start.starts_with(b"\x7fELF");
    if cfg!(all(unix, not(target_vendor = "apple"))) && !is_elf {
        return Err("it is no library for this system".to_owned());
    }
    // The table of sections is what an ELF file ends with; it has 64 bits everywhere where ONNX Runtime is built.
    let number = |at: usize, bytes: usize| {
        let field = start.get(at..at + bytes)?;
        Some(field.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)))
    };
    let sections = (|| number(0x28, 8)?.checked_add(number(0x3a, 2)? * number(0x3c, 2)?))();
    match sections {
        _ if !is_elf => Ok(()),
        Some(end) if end <= length => Ok(()),
        _ => Err(format!("it is cut off at {length} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_newest_library_of_the_first_place_is_found() {
        let place = tempfile::tempdir().unwrap();
        let python = place.path().join("site-packages/onnxruntime/capi");
        fs::create_dir_all(&python).unwrap();
        let models = place.path().join("models");
        fs::create_dir_all(models.join("onnxruntime")).unwrap();
        let search = RuntimeSearch::default().folder(&models).folder(place.path().join("site-packages"));
        let message = search.find().unwrap_err().to_string();
        assert!(message.contains("models, nor in") && message.contains("hatir model install"), "{message}");

        fs::write(python.join("libonnxruntime.so.1.32.0"), "").unwrap();
        fs::write(python.join("libonnxruntime_providers_shared.so"), "").unwrap();
        assert_eq!(search.find().unwrap(), python.join("libonnxruntime.so.1.32.0"));
        for name in ["libonnxruntime.so.1.9.0", "libonnxruntime.so", "libonnxruntime.so.1.31.2"] {
            fs::write(models.join("onnxruntime").join(name), "").unwrap();
        }
        assert_eq!(search.find().unwrap(), models.join("onnxruntime/libonnxruntime.so.1.31.2"));

        let exact = RuntimeSearch::default().exactly(place.path().join("other")).folder(&models);
        assert!(exact.find().unwrap_err().to_string().contains("other does not exist"));
        let exact = RuntimeSearch::default().exactly(models.join("onnxruntime/libonnxruntime.so"));
        assert_eq!(exact.find().unwrap(), models.join("onnxruntime/libonnxruntime.so"));
    }

    #[test]
    fn what_is_no_library_is_not_loaded() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("library");
        let problem = |content: &[u8]| {
            fs::write(&path, content).unwrap();
            check_whole(&path)
        };
        if cfg!(target_os = "linux") {
            assert_eq!(problem(b""), Err("it is no library for this system".to_owned()));
            assert_eq!(problem(b"<html>"), Err("it is no library for this system".to_owned()));
            assert_eq!(problem(b"\x7fELF"), Err("it is cut off at 4 bytes".to_owned()));
            let whole = fs::read(std::env::current_exe().unwrap()).unwrap();
            assert_eq!(problem(&whole), Ok(()));
            assert!(problem(&whole[..whole.len() - 1]).is_err());
        }
    }
}
