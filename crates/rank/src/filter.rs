//! Which documents a search may return at all.

use jiff::Timestamp;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED};

use crate::decay::Kind;
use crate::index::{Doc, SegmentView, Snapshot, filter_term};

/// Conditions that all must hold. They are applied inside every voice, before anything is cut off: a filter that keeps
/// one document in ten thousand finds that one.
///
/// A grant is a filter too: allow the domains that may be read with [`under`](Self::under), or forbid those that may
/// not with [`not_under`](Self::not_under).
///
/// ```
/// use hatir_rank::{Config, Document, Filter, Index, Query};
///
/// let index = Index::in_memory(&Config::default())?;
/// index.replace_all([
///     Document::new("1", "Refunds are paid within 14 days.").with_field("domain", "shop/refunds"),
///     Document::new("2", "Refunds of travel costs need a receipt.").with_field("domain", "staff/travel"),
/// ])?;
///
/// let query = Query::new("refunds").within(Filter::new().under("domain", ["shop"]));
/// let ranking = index.search(&query, 5)?;
/// assert_eq!(ranking.hits.len(), 1);
/// assert_eq!(ranking.hits[0].id, "1");
/// # Ok::<(), hatir_rank::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Field { name: String, values: Vec<String>, wanted: bool },
    Under { name: String, prefixes: Vec<String>, wanted: bool },
    Kinds(Vec<Kind>),
    Made { from: Option<Timestamp>, until: Option<Timestamp> },
}

fn texts(values: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    values.into_iter().map(Into::into).collect()
}

impl Filter {
    /// No condition: every document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no condition.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Only documents whose field `name` has one of the values; with no value, none.
    #[must_use]
    pub fn field(self, name: &str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Condition::Field { name: name.to_owned(), values: texts(values), wanted: true })
    }

    /// Only documents whose field `name` is missing or has none of the values.
    #[must_use]
    pub fn not_field(self, name: &str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Condition::Field { name: name.to_owned(), values: texts(values), wanted: false })
    }

    /// Only documents whose field `name` is one of the paths or lies under it: `shop` takes `shop` and
    /// `shop/refunds`, not `shopping`. Works for values up to about 1,000 bytes; a longer one lies under nothing.
    #[must_use]
    pub fn under(self, name: &str, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Condition::Under { name: name.to_owned(), prefixes: texts(prefixes), wanted: true })
    }

    /// Only documents whose field `name` is missing, or neither one of the paths nor under one.
    #[must_use]
    pub fn not_under(self, name: &str, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Condition::Under { name: name.to_owned(), prefixes: texts(prefixes), wanted: false })
    }

    /// Only documents of one of the kinds; one without a kind is left out.
    #[must_use]
    pub fn kinds(self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        self.with(Condition::Kinds(kinds.into_iter().collect()))
    }

    /// Only documents made at `from` or later and before `until`; one without a time is left out.
    #[must_use]
    pub fn made(self, from: Option<Timestamp>, until: Option<Timestamp>) -> Self {
        self.with(Condition::Made { from, until })
    }

    fn with(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// The live documents that pass; `None` when all do.
    ///
    /// Cost: it visits the documents that hold a named value, and for kinds and times every document once.
    pub(crate) fn select(&self, snapshot: &Snapshot) -> tantivy::Result<Option<Selection>> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut selection = Selection::live(snapshot);
        for condition in &self.conditions {
            match condition {
                Condition::Field { name, values, wanted } => {
                    let mut named = Selection::none(snapshot);
                    for value in values {
                        named.add_term(snapshot, &filter_term(name, value))?;
                    }
                    selection.keep(&named, *wanted);
                }
                Condition::Under { name, prefixes, wanted } => {
                    let mut named = Selection::none(snapshot);
                    for prefix in prefixes {
                        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
                        named.add_term(snapshot, &filter_term(name, prefix))?;
                        named.add_prefix(snapshot, &format!("{name}\u{0}{prefix}/"))?;
                    }
                    selection.keep(&named, *wanted);
                }
                Condition::Kinds(kinds) => selection.keep_where(snapshot, |view, document| {
                    view.kind_column()
                        .and_then(|column| column.first(document))
                        .is_some_and(|kind| kinds.iter().any(|wanted| *wanted as u64 == kind))
                }),
                Condition::Made { from, until } => {
                    let from = from.map_or(i64::MIN, Timestamp::as_millisecond);
                    let until = until.map_or(i64::MAX, Timestamp::as_millisecond);
                    selection.keep_where(snapshot, |view, document| {
                        view.created_column()
                            .and_then(|column| column.first(document))
                            .is_some_and(|created| (from..until).contains(&created))
                    });
                }
            }
        }
        selection.count();
        Ok(Some(selection))
    }
}

/// A set of documents, by number.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    bits: Vec<u64>,
    count: usize,
}

/// Up to so many documents of a segment are looked up one by one, and not found by a pass over postings.
const FEW: usize = 512;

impl Selection {
    fn none(snapshot: &Snapshot) -> Self {
        Self { bits: vec![0; (snapshot.numbers as usize).div_ceil(64)], count: 0 }
    }

    fn live(snapshot: &Snapshot) -> Self {
        let mut all = Self::none(snapshot);
        snapshot.live().for_each(|doc| all.insert(doc));
        all
    }

    fn insert(&mut self, doc: Doc) {
        self.bits[doc as usize / 64] |= 1 << (doc % 64);
    }

    fn count(&mut self) {
        self.count = self.bits.iter().map(|word| word.count_ones() as usize).sum();
    }

    /// Whether it holds a document.
    pub(crate) fn has(&self, doc: Doc) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// How many it holds.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// All it holds, in ascending order.
    pub(crate) fn docs(&self) -> impl Iterator<Item = Doc> + '_ {
        self.bits.iter().enumerate().flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    at as u32 * 64 + bit
                })
            })
        })
    }

    /// Its documents in a segment, when they are few.
    pub(crate) fn few_in(&self, view: &SegmentView) -> Option<Vec<DocId>> {
        if self.count > FEW {
            return None;
        }
        let end = view.first + view.reader.max_doc();
        Some(self.docs().filter(|doc| (view.first..end).contains(doc)).map(|doc| doc - view.first).collect())
    }

    fn keep(&mut self, other: &Self, wanted: bool) {
        for (word, other) in self.bits.iter_mut().zip(&other.bits) {
            *word &= if wanted { *other } else { !*other };
        }
    }

    fn keep_where(&mut self, snapshot: &Snapshot, wanted: impl Fn(&SegmentView, DocId) -> bool) {
        for view in &snapshot.segments {
            for document in 0..view.reader.max_doc() {
                let doc = view.first + document;
                if self.has(doc) && !wanted(view, document) {
                    self.bits[doc as usize / 64] &= !(1 << (doc % 64));
                }
            }
        }
    }

    fn add_term(&mut self, snapshot: &Snapshot, text: &str) -> tantivy::Result<()> {
        let term = tantivy::Term::from_field_text(snapshot.fields.filter, text);
        for view in &snapshot.segments {
            if let Some(info) = view.filter_terms.get_term_info(&term)? {
                self.add_postings(view, &info)?;
            }
        }
        Ok(())
    }

    fn add_prefix(&mut self, snapshot: &Snapshot, prefix: &str) -> tantivy::Result<()> {
        for view in &snapshot.segments {
            let mut stream = view.filter_terms.terms().range().ge(prefix.as_bytes()).into_stream()?;
            while stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
                let info = stream.value().clone();
                self.add_postings(view, &info)?;
            }
        }
        Ok(())
    }

    fn add_postings(&mut self, view: &SegmentView, info: &tantivy::postings::TermInfo) -> tantivy::Result<()> {
        let mut postings = view.filter_terms.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        let mut document = postings.doc();
        while document != TERMINATED {
            self.insert(view.first + document);
            document = postings.advance();
        }
        Ok(())
    }
}
