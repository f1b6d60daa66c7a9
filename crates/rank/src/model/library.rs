//! The shared library of ONNX Runtime: which file it is, and whether this machine can load it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Whether a file's name is that of the runtime library on any system; its companions have other names
/// (`libonnxruntime_providers_shared.so`).
pub(super) fn is_library(name: &str) -> bool {
    let versioned =
        |rest: &str| rest.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if name.eq_ignore_ascii_case("onnxruntime.dll") {
        return true;
    }
    let Some(rest) = name.strip_prefix("libonnxruntime") else { return false };
    match (rest.strip_prefix(".so"), rest.strip_suffix(".dylib")) {
        (Some(""), _) | (_, Some("")) => true,
        (Some(version), _) | (_, Some(version)) => version.strip_prefix('.').is_some_and(versioned),
        _ => false,
    }
}

/// Says what a library is for when it is not for this machine.
pub(super) fn for_another_machine(path: &Path) -> io::Result<Option<String>> {
    let mut start = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut start)?;
    Ok(machine(&start).err())
}

#[cfg(target_os = "windows")]
const FORMAT: &str = "a Windows library";
#[cfg(target_vendor = "apple")]
const FORMAT: &str = "a macOS library";
#[cfg(not(any(target_os = "windows", target_vendor = "apple")))]
const FORMAT: &str = "an ELF library";

/// The header of a library: `Err` says what it is instead of one for this machine.
fn machine(start: &[u8]) -> Result<(), String> {
    let format = match start {
        [0x7f, b'E', b'L', b'F', ..] => "an ELF library",
        [b'M', b'Z', ..] => "a Windows library",
        // Mach-O, 64 bits, and universal binaries.
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => "a macOS library",
        _ => "no library",
    };
    if format != FORMAT {
        return Err(format.to_owned());
    }
    // `e_machine`, in the byte order of every machine that ONNX Runtime is built for.
    if let (true, [low, high]) = (format == "an ELF library", start.get(18..20).unwrap_or_default()) {
        let found = match u16::from_le_bytes([*low, *high]) {
            3 => "x86",
            40 => "arm",
            62 => "x86_64",
            183 => "aarch64",
            243 => "riscv64",
            _ => "another processor",
        };
        if found != std::env::consts::ARCH {
            return Err(format!("a library for {found}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_known_by_its_name() {
        for name in [
            "libonnxruntime.so",
            "libonnxruntime.so.1",
            "libonnxruntime.so.1.32.0",
            "libonnxruntime.dylib",
            "libonnxruntime.1.32.0.dylib",
            "onnxruntime.dll",
        ] {
            assert!(is_library(name), "{name}");
        }
        for name in [
            "libonnxruntime_providers_shared.so",
            "libonnxruntime.so.",
            "libonnxruntime.so.1.x",
            "libonnxruntime.so.debug",
            "onnxruntime_providers_shared.dll",
            "onnxruntime_pybind11_state.so",
            "libonnxruntimedylib",
            "",
        ] {
            assert!(!is_library(name), "{name}");
        }
    }

    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn a_library_of_another_machine_is_found_out() {
        let elf = |machine: u8| {
            let mut start = b"\x7fELF\x02\x01\x01".to_vec();
            start.resize(18, 0);
            start.extend([machine, 0]);
            start
        };
        assert_eq!(machine(&elf(62)), Ok(()));
        assert_eq!(machine(&elf(183)), Err("a library for aarch64".to_owned()));
        assert_eq!(machine(b"MZ"), Err("a Windows library".to_owned()));
        assert_eq!(machine(b"<html>"), Err("no library".to_owned()));
    }
}
