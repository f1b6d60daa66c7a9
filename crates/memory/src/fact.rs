use serde::{Deserialize, Serialize};

use crate::{FactId, Moment};

/// How a statement came to us, which decides how much it is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Veracity {
    /// Somebody said so.
    Stated,
    /// Nobody knows any more.
    #[default]
    Unknown,
    /// Concluded from something else.
    Inferred,
    /// Taken over from another store or file.
    Imported,
    /// Printed by a tool.
    Tool,
}

impl Veracity {
    /// Every veracity, the weightiest first.
    pub const ALL: [Veracity; 5] =
        [Veracity::Stated, Veracity::Unknown, Veracity::Inferred, Veracity::Imported, Veracity::Tool];

    /// The weight, in `0.0..=1.0`: stated 1.0, unknown 0.8, inferred 0.7, imported 0.6, tool 0.5.
    pub const fn weight(self) -> f64 {
        match self {
            Veracity::Stated => 1.0,
            Veracity::Unknown => 0.8,
            Veracity::Inferred => 0.7,
            Veracity::Imported => 0.6,
            Veracity::Tool => 0.5,
        }
    }

    /// The lower-case name, as it is stored and as serde writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Veracity::Stated => "stated",
            Veracity::Unknown => "unknown",
            Veracity::Inferred => "inferred",
            Veracity::Imported => "imported",
            Veracity::Tool => "tool",
        }
    }
}

impl std::fmt::Display for Veracity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl std::str::FromStr for Veracity {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, crate::Error> {
        Veracity::ALL.into_iter().find(|veracity| veracity.as_str() == name).ok_or_else(|| {
            crate::Error::invalid("veracity", format!("`{name}`"), "stated, unknown, inferred, imported or tool")
        })
    }
}

/// A statement to be recorded.
///
/// ```
/// use hatir_memory::{NewFact, Veracity};
///
/// let fact = NewFact {
///     veracity: Veracity::Stated,
///     author: Some("derya".to_owned()),
///     ..NewFact::new("team", "office", "The office is in Ankara.")
/// };
/// assert_eq!(fact.confidence, None);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewFact {
    /// The field it belongs to: `team`, or `repo:<slug>/name`. Stored without white space around it; at most
    /// [`MAX_NAME_BYTES`](crate::MAX_NAME_BYTES).
    pub domain: String,
    /// What it is about within the domain. As `domain`.
    pub topic: String,
    /// The statement, stored as it stands; at most [`MAX_CONTENT_BYTES`](crate::MAX_CONTENT_BYTES).
    pub content: String,
    /// How sure it is, in `0.0..=1.0`. Half of the veracity's weight when not given. Not used for a statement that the
    /// store has already, whose confidence grows by a rule of its own.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// How it came to us.
    #[serde(default)]
    pub veracity: Veracity,
    /// Who said it.
    #[serde(default)]
    pub author: Option<String>,
    /// Where it was said: a file and line, a URL, an observation.
    #[serde(default)]
    pub source: Option<String>,
    /// When it began to be true. See [`FactQuery::as_of`] for what holds when it is not given.
    #[serde(default)]
    pub valid_from: Option<Moment>,
    /// The first moment at which it is true no more.
    #[serde(default)]
    pub valid_until: Option<Moment>,
}

impl NewFact {
    /// A statement of unknown veracity, without an author, a source or limits in time.
    pub fn new(domain: impl Into<String>, topic: impl Into<String>, content: impl Into<String>) -> Self {
        NewFact {
            domain: domain.into(),
            topic: topic.into(),
            content: content.into(),
            confidence: None,
            veracity: Veracity::default(),
            author: None,
            source: None,
            valid_from: None,
            valid_until: None,
        }
    }
}

/// A statement in the store, as it was known at the moment asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its name for good.
    pub id: FactId,
    /// The field it belongs to.
    pub domain: String,
    /// What it is about within the domain.
    pub topic: String,
    /// The statement, byte for byte as it was first recorded.
    pub content: String,
    /// How sure it is, in `0.0..=1.0`; grows with each mention.
    pub confidence: f64,
    /// How it first came to us.
    pub veracity: Veracity,
    /// Who said it first.
    pub author: Option<String>,
    /// Where it was first said.
    pub source: Option<String>,
    /// When the store learned it.
    pub recorded_at: Moment,
    /// When it began to be true, where that is known.
    pub valid_from: Option<Moment>,
    /// The first moment at which it is true no more, where that is known.
    pub valid_until: Option<Moment>,
    /// The fact that took its place.
    pub superseded_by: Option<FactId>,
    /// When the store learned of that.
    pub superseded_at: Option<Moment>,
    /// How many times it was recorded, the first included.
    pub mentions: u32,
    /// The position in the change log at which it was recorded; unique, and grows with each fact.
    pub seq: i64,
}

/// What [`Store::record`](crate::Store::record) did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// The fact as it is now.
    pub fact: Fact,
    /// Whether it is new.
    pub outcome: Outcome,
}

/// Whether a statement was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A new fact.
    Added,
    /// The store had the statement; its confidence and number of mentions grew.
    Mentioned,
}

/// Which facts to read. The default asks for all that hold now.
///
/// ```
/// use hatir_memory::{FactQuery, Moment};
///
/// let last_spring = FactQuery {
///     domain: Some("team".to_owned()),
///     as_of: Some(Moment::from_micros(1_772_366_400_000_000)),
///     ..FactQuery::default()
/// };
/// assert_eq!(last_spring.known_at, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FactQuery {
    /// Only this domain, exactly.
    pub domain: Option<String>,
    /// Only this topic, exactly, in whatever domain.
    pub topic: Option<String>,
    /// *When it was true*: only facts that hold at this moment; `now` when not given.
    ///
    /// A fact holds from its `valid_from`, up to and not including its `valid_until`. Without a `valid_from` it holds
    /// from the moment it was recorded: the store claims nothing about the time before it heard of it (unless the
    /// fact had ended by then; its beginning is open then). A superseded fact holds until one of its successors
    /// begins to, so a planned change takes effect on its day, and a moment before a change has the old answer. To say
    /// instead that the old fact never was true, supersede it with the `valid_from` that it had.
    pub as_of: Option<Moment>,
    /// *When we learned it*: as if nothing that was recorded, mentioned or superseded after this moment had been;
    /// everything up to now when not given. Facts come back as they were known then, confidence and mentions included.
    pub known_at: Option<Moment>,
    /// Also facts whose successor has begun to hold.
    pub include_superseded: bool,
    /// At most so many, the newest.
    pub limit: Option<usize>,
}

/// One line of the change log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The position. Positions grow, and a later transaction never has a smaller one.
    pub seq: i64,
    /// The fact that changed.
    pub fact: FactId,
    /// What happened to it.
    pub kind: ChangeKind,
    /// When.
    pub at: Moment,
}

/// What happened to a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was recorded.
    Recorded,
    /// It was recorded again; confidence and mentions grew.
    Mentioned,
    /// Another took its place.
    Superseded,
}

impl ChangeKind {
    /// The lower-case name, as it is stored and as serde writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Recorded => "recorded",
            ChangeKind::Mentioned => "mentioned",
            ChangeKind::Superseded => "superseded",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [ChangeKind::Recorded, ChangeKind::Mentioned, ChangeKind::Superseded]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}
