//! Where models are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;

/// The option of every command that uses models.
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The folder of models (default: `$HATIR_MODELS`, else `hatir/models` in the user's data folder)
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,
}

impl ModelsArgs {
    pub(crate) fn folder(&self) -> PathBuf {
        models_dir(self.models.as_deref())
    }
}

/// The folder of models: the one that was asked for, else `HATIR_MODELS`, else `hatir/models` in the data folder that
/// the platform has for the user. It need not exist. Without a home it is `.hatir/models` in the working folder.
pub(crate) fn models_dir(flag: Option<&Path>) -> PathBuf {
    choose(flag, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

/// The folder for what makes opening a model fast, and may be removed at any time: `HATIR_CACHE`, else `hatir` in the
/// platform's cache folder; nothing without a home.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    choose_cache(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

fn choose_cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from);
    path("HATIR_CACHE").or_else(|| {
        let cache = if cfg!(windows) {
            path("LOCALAPPDATA")
        } else if cfg!(target_vendor = "apple") {
            path("HOME").map(|home| home.join("Library/Caches"))
        } else {
            let cache = path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
            cache.or_else(|| path("HOME").map(|home| home.join(".cache")))
        };
        Some(cache?.join("hatir"))
    })
}

fn choose(flag: Option<&Path>, variable: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let path = |name: &str| variable(name).map(PathBuf::from);
    let named = flag.map(Path::to_path_buf).or_else(|| path("HATIR_MODELS"));
    if let Some(folder) = named {
        return folder;
    }
    let data = if cfg!(windows) {
        // Roaming profiles are copied at each log-in, and models are large.
        path("LOCALAPPDATA").or_else(|| path("APPDATA"))
    } else if cfg!(target_vendor = "apple") {
        path("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        // A relative path is to be ignored: XDG Base Directory Specification 0.8, "Basics".
        let data = path("XDG_DATA_HOME").filter(|path| path.is_absolute());
        data.or_else(|| path("HOME").map(|home| home.join(".local/share")))
    };
    data.map_or_else(|| PathBuf::from(".hatir/models"), |data| data.join("hatir").join("models"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(flag: Option<&str>, variables: &[(&str, &str)]) -> PathBuf {
        choose(flag.map(Path::new), |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_flag_goes_before_the_variable_and_that_before_the_data_folder() {
        let all = [("HATIR_MODELS", "/models"), ("XDG_DATA_HOME", "/data"), ("HOME", "/home/me")];
        assert_eq!(with(Some("here"), &all), Path::new("here"));
        assert_eq!(with(None, &all), Path::new("/models"));
        assert_eq!(with(None, &[]), Path::new(".hatir/models"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_data_folder_is_the_users() {
        let home = ("HOME", "/home/me");
        assert_eq!(with(None, &[("XDG_DATA_HOME", "/data"), home]), Path::new("/data/hatir/models"));
        let fallback = Path::new("/home/me/.local/share/hatir/models");
        assert_eq!(with(None, &[home]), fallback);
        assert_eq!(with(None, &[("XDG_DATA_HOME", "data"), home]), fallback, "a relative path is ignored");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_cache_folder_is_the_users() {
        let with = |variables: &[(&str, &str)]| {
            choose_cache(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            })
        };
        let home = ("HOME", "/home/me");
        assert_eq!(with(&[("HATIR_CACHE", "/here"), home]).as_deref(), Some(Path::new("/here")));
        assert_eq!(with(&[("XDG_CACHE_HOME", "/cache"), home]).as_deref(), Some(Path::new("/cache/hatir")));
        assert_eq!(with(&[home]).as_deref(), Some(Path::new("/home/me/.cache/hatir")));
        assert_eq!(with(&[]), None);
    }
}
