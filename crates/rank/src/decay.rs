//! How memories fade.

use serde::{Deserialize, Serialize};

/// What a document is, and so how fast it fades.
///
/// | kind | k | η in hours |
/// |---|---|---|
/// | fact | 0.8 | 720 |
/// | preference | 0.4 | 4380 |
/// | decision | 1.0 | 336 |
/// | commitment | 1.0 | 240 |
/// | goal | 0.9 | 720 |
/// | event | 1.2 | 168 |
/// | instruction | 0.9 | 480 |
/// | relationship | 0.35 | 8760 |
/// | context | 0.85 | 360 |
/// | learning | 0.7 | 1440 |
/// | observation | 0.9 | 480 |
/// | error | 1.1 | 336 |
/// | artifact | 0.75 | 2160 |
/// | request | 1.5 | 72 |
/// | unknown | 1.0 | 168 |
/// | profile | does not fade | |
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Something that is so.
    Fact,
    /// What somebody likes or wants.
    Preference,
    /// What was decided.
    Decision,
    /// What was promised.
    Commitment,
    /// What is aimed at.
    Goal,
    /// What happened.
    Event,
    /// What to do and how.
    Instruction,
    /// How people or things belong together.
    Relationship,
    /// What surrounds the work at hand.
    Context,
    /// What was learned.
    Learning,
    /// What was seen.
    Observation,
    /// What went wrong.
    Error,
    /// What was made.
    Artifact,
    /// What was asked for.
    Request,
    /// Who somebody is.
    Profile,
    /// None of these.
    Unknown,
}

impl Kind {
    /// All kinds, in the order of the table.
    pub const ALL: [Self; 16] = [
        Self::Fact,
        Self::Preference,
        Self::Decision,
        Self::Commitment,
        Self::Goal,
        Self::Event,
        Self::Instruction,
        Self::Relationship,
        Self::Context,
        Self::Learning,
        Self::Observation,
        Self::Error,
        Self::Artifact,
        Self::Request,
        Self::Profile,
        Self::Unknown,
    ];

    /// The name in files and messages: `fact`, `preference`, ….
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Commitment => "commitment",
            Self::Goal => "goal",
            Self::Event => "event",
            Self::Instruction => "instruction",
            Self::Relationship => "relationship",
            Self::Context => "context",
            Self::Learning => "learning",
            Self::Observation => "observation",
            Self::Error => "error",
            Self::Artifact => "artifact",
            Self::Request => "request",
            Self::Profile => "profile",
            Self::Unknown => "unknown",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How it fades; `None` when it does not.
    pub fn weibull(self) -> Option<Weibull> {
        let (shape, scale_hours) = match self {
            Self::Fact => (0.8, 720.0),
            Self::Preference => (0.4, 4380.0),
            Self::Decision => (1.0, 336.0),
            Self::Commitment => (1.0, 240.0),
            Self::Goal => (0.9, 720.0),
            Self::Event => (1.2, 168.0),
            Self::Instruction | Self::Observation => (0.9, 480.0),
            Self::Relationship => (0.35, 8760.0),
            Self::Context => (0.85, 360.0),
            Self::Learning => (0.7, 1440.0),
            Self::Error => (1.1, 336.0),
            Self::Artifact => (0.75, 2160.0),
            Self::Request => (1.5, 72.0),
            Self::Unknown => (1.0, 168.0),
            Self::Profile => return None,
        };
        Some(Weibull { shape, scale_hours })
    }
}

/// The survival function of Weibull's distribution, `exp(-(age/η)^k)` (Weibull, "A Statistical Distribution Function
/// of Wide Applicability", 1951).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Weibull {
    /// k: below 1 it fades fast at first and slowly later, above 1 the other way round; above 0.
    pub shape: f64,
    /// η: the age at which 1/e (37 %) is left, in hours; above 0.
    pub scale_hours: f64,
}

impl Weibull {
    /// What is left at an age in hours, 1 down to 0; an age below 0 (the future) counts as 0.
    ///
    /// ```
    /// use hatir_rank::Kind;
    ///
    /// let decision = Kind::Decision.weibull().expect("decisions fade");
    /// assert_eq!(decision.left(0.0), 1.0);
    /// assert!((decision.left(336.0) - 0.3679).abs() < 1e-4);
    /// assert!(Kind::Profile.weibull().is_none());
    /// ```
    pub fn left(self, age_hours: f64) -> f64 {
        (-(age_hours.max(0.0) / self.scale_hours).powf(self.shape)).exp()
    }
}

/// The factor on evidence that the decay makes of what is left: even the oldest keeps 2 %.
pub(crate) fn decay_factor(left: f64) -> f64 {
    0.02 + 0.98 * left
}

/// The factor on evidence of an importance from 0 to 1.
pub(crate) fn importance_factor(importance: f64) -> f64 {
    0.8 + 0.2 * importance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_match() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
        assert_eq!(Kind::from_name("Fact"), None);
    }

    #[test]
    fn every_kind_fades_steadily_from_one() {
        for weibull in Kind::ALL.into_iter().filter_map(Kind::weibull) {
            assert!((weibull.left(-5.0) - 1.0).abs() < 1e-12);
            let ages = [0.0, 1.0, 24.0, 168.0, 720.0, 8760.0, 1e6];
            for pair in ages.windows(2) {
                assert!(weibull.left(pair[0]) > weibull.left(pair[1]) || weibull.left(pair[1]) == 0.0);
            }
        }
    }

    #[test]
    fn the_factors_have_their_ends() {
        assert!((decay_factor(1.0) - 1.0).abs() < 1e-12);
        assert!((decay_factor(0.0) - 0.02).abs() < 1e-12);
        assert!((importance_factor(1.0) - 1.0).abs() < 1e-12);
        assert!((importance_factor(0.0) - 0.8).abs() < 1e-12);
    }
}
