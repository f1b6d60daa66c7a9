//! The stable codes of problems, each with a page that explains it.

use std::fmt;

use crate::diagnostic::Severity;

/// The code of a kind of problem: `E` and four digits for errors, `W` and four digits for warnings.
///
/// A code keeps its meaning for good. E00 is about the file, E02 about building, E03 about running.
///
/// ```
/// use hatir_pipeline::Code;
///
/// let code = Code::parse("E0030").unwrap();
/// assert_eq!(code, Code::UNKNOWN_KIND);
/// assert!(code.page().starts_with("# E0030"));
/// ```
#[derive(Clone, Copy)]
pub struct Code {
    name: &'static str,
    title: &'static str,
    page: &'static str,
}

macro_rules! codes {
    ($($constant:ident $name:literal $title:literal,)*) => {
        impl Code {
            $(
                #[doc = concat!($name, ": ", $title, ".")]
                pub const $constant: Code =
                    Code { name: $name, title: $title, page: include_str!(concat!("codes/", $name, ".md")) };
            )*

            const ALL: &[Code] = &[$(Code::$constant),*];
        }
    };
}

codes! {
    UNREADABLE_FILE "E0001" "the file cannot be read",
    NOT_UTF8 "E0002" "the file is not UTF-8 text",
    LARGE_FILE "E0003" "the file is too large",
    SYNTAX "E0004" "the file is not valid TOML",
    DUPLICATE_KEY "E0005" "a key or a table is there twice",
    NESTED_TOO_DEEP "E0006" "the nesting is too deep",
    MISSING_VERSION "E0010" "the version of the format is missing",
    UNSUPPORTED_VERSION "E0011" "the version of the format is not known",
    UNKNOWN_KEY "E0012" "a key is not known",
    WRONG_TYPE "E0013" "a value has the wrong type",
    OUT_OF_RANGE "E0014" "a value is out of range",
    MISSING_KEY "E0015" "a key is missing",
    WRONG_NAME "E0016" "a name has characters that names cannot have",
    NO_STAGES "E0017" "the pipeline has no stages",
    UNKNOWN_TYPE "E0018" "an input has a type that is not known",
    WRONG_DURATION "E0019" "a duration is not written as durations are",
    WRONG_CHOICE "E0020" "a value is not one of the allowed words",
    WRONG_CONDITION "E0021" "a condition asks nothing, or too much",
    UNKNOWN_KIND "E0030" "a stage kind is not known",
    REFUSED "E0031" "a stage kind refuses its configuration",
    UNDECLARED_VARIABLE "E0040" "an environment variable is not declared",
    WRONG_VARIABLE "E0041" "a reference to an environment variable is malformed",
    UNSET_VARIABLE "E0042" "an environment variable is not set",
    MISPLACED_VARIABLE "E0043" "an environment variable is used where none is replaced",
    WRONG_VARIABLE_NAME "E0044" "a declared name cannot be an environment variable",
    WRONG_SET "E0050" "an argument of --set cannot be read",
    SET_NOWHERE "E0051" "an argument of --set leads nowhere",
    UNKNOWN_STAGE "E0060" "a stage is not known",
    UNKNOWN_INPUT "E0061" "an input of the pipeline is not known",
    UNKNOWN_PORT "E0062" "a stage has no such input",
    MISSING_INPUT "E0063" "an input of a stage is not fed",
    TOO_MANY_SOURCES "E0064" "an input of a stage takes one source and is given several",
    TYPE_MISMATCH "E0065" "what comes out does not fit what goes in",
    LOOP "E0066" "stages wait for each other in a circle",
    WRONG_TEST_VALUE "E0071" "a value in a test does not have its type",
    EMPTY_EXPECTATION "E0072" "an expectation of a test checks nothing",
    NOT_BUILT "E0201" "a stage could not be built",
    UNTRUSTED "E0202" "a program is not trusted",
    STAGE_FAILED "E0301" "a stage failed",
    STAGE_TIMED_OUT "E0302" "a stage took too long",
    STAGE_PANICKED "E0303" "a stage panicked",
    INPUT_VALUE "E0304" "an input of the run is wrong",
    INTERRUPTED "E0305" "the run was interrupted",
    NOT_WRITTEN "E0306" "an output could not be written",
    WRONG_RECORD "E0307" "a record of a batch is wrong",
    UNUSED_STAGE "W0001" "a stage is not used",
    UNUSED_INPUT "W0002" "an input of the pipeline is not used",
    UNUSED_VARIABLE "W0003" "a declared environment variable is not used",
    SUSPICIOUS_STEP "W0004" "a step into a value looks like a misspelt check",
    TEST_LACKS_INPUT "W0005" "a test does not give an input that its stages need",
}

impl Code {
    /// The code of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Code::all().find(|code| code.name == name)
    }

    /// All codes, errors first, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Code> {
        Code::ALL.iter().copied()
    }

    /// The code as it is written: `E0030`.
    pub fn as_str(self) -> &'static str {
        self.name
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// A page of Markdown: why it is a problem, an example, the remedy.
    pub fn page(self) -> &'static str {
        self.page
    }

    /// Codes with a `W` are warnings, the others errors.
    pub fn severity(self) -> Severity {
        if self.name.starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Code {}

impl std::hash::Hash for Code {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}
