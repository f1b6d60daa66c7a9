//! One commit of an index, opened for reading.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tantivy::columnar::{Column, StrColumn};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{
    DocAddress, DocId, DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term,
};

use super::schema::{Fields, Payload, SPEAKER_FIELD, column, filter_term, hash, language_of_code};
use crate::analysis::{FIELDS, FieldKind};
use crate::conversation::names_of;
use crate::decay::Kind;
use crate::document::{Document, Language};
use crate::graph::{Graph, GraphBuilder};
use crate::vectors::VectorSet;

type EngineResult<T> = tantivy::Result<T>;

/// A document of a snapshot: its number over all segments, deleted ones counted.
pub(crate) type Doc = u32;

/// The live documents of one commit, with the statistics that scores are made from.
pub(crate) struct Snapshot {
    pub(crate) fields: Fields,
    pub(crate) segments: Vec<SegmentView>,
    /// How many documents are live.
    pub(crate) documents: u64,
    /// The mean length of each field over the live documents that have it, in terms; 0 when none has.
    pub(crate) average_length: [f64; FIELDS],
    /// How many live documents have each field.
    pub(crate) holders: [u64; FIELDS],
    /// What the commit carries beside the documents.
    pub(crate) payload: Payload,
    /// The vectors of the models that the commit knows.
    pub(crate) vectors: HashMap<String, VectorSet>,
    /// How many numbers of documents there are, deleted ones counted.
    pub(crate) numbers: u32,
    searcher: Searcher,
    keys: OnceLock<HashMap<u64, Vec<Doc>>>,
    turns: OnceLock<HashMap<(u64, u64), Doc>>,
    graph: OnceLock<Graph>,
    speakers: OnceLock<Vec<(u64, Vec<String>)>>,
    means: Mutex<HashMap<String, Arc<LanguageMeans>>>,
    covered: Mutex<HashMap<String, u64>>,
}

/// The mean vector of each language's documents, and their number.
pub(crate) type LanguageMeans = Vec<(Option<Language>, Vec<f32>, usize)>;

/// A segment's readers, looked up once per commit and not once per query.
pub(crate) struct SegmentView {
    pub(crate) reader: SegmentReader,
    /// The number of its first document.
    pub(crate) first: u32,
    pub(crate) searched: [SearchedField; FIELDS],
    pub(crate) filter_terms: Arc<InvertedIndexReader>,
    ids: Option<StrColumn>,
    id_terms: Arc<InvertedIndexReader>,
    columns: Columns,
}

pub(crate) struct SearchedField {
    pub(crate) terms: Arc<InvertedIndexReader>,
    pub(crate) lengths: FieldNormReader,
}

/// The columns of a segment; one that no document of it has is missing.
struct Columns {
    node: Option<Column<u64>>,
    content: Option<Column<u64>>,
    in_context: Option<Column<u64>>,
    language: Option<Column<u64>>,
    created: Option<Column<i64>>,
    kind: Option<Column<u64>>,
    importance: Option<Column<f64>>,
    session: Option<Column<u64>>,
    position: Option<Column<u64>>,
    speaker: Option<Column<u64>>,
    timed: Option<Column<u64>>,
    words: Option<Column<u64>>,
    link_to: Option<Column<u64>>,
    link_weight: Option<Column<f64>>,
}

impl Snapshot {
    /// Reads the length of every live document (one byte per field), so that the statistics count no deleted one and
    /// scores depend on the live documents alone, not on how they came in.
    pub(crate) fn new(
        searcher: Searcher,
        fields: Fields,
        payload: Payload,
        vectors: HashMap<String, VectorSet>,
    ) -> EngineResult<Self> {
        let mut segments = Vec::with_capacity(searcher.segment_readers().len());
        let mut total = [0_u64; FIELDS];
        let mut holders = [0_u64; FIELDS];
        let mut documents = 0;
        let mut numbers = 0;
        for reader in searcher.segment_readers() {
            let view = SegmentView::new(reader, &fields, numbers)?;
            numbers += reader.max_doc();
            documents += u64::from(reader.num_docs());
            for (at, searched) in view.searched.iter().enumerate() {
                if searched.terms.terms().num_terms() == 0 {
                    continue;
                }
                for document in 0..reader.max_doc() {
                    let length = u64::from(searched.lengths.fieldnorm(document));
                    if length > 0 && !reader.is_deleted(document) {
                        total[at] += length;
                        holders[at] += 1;
                    }
                }
            }
            segments.push(view);
        }
        let average_length =
            std::array::from_fn(|at| if holders[at] == 0 { 0.0 } else { total[at] as f64 / holders[at] as f64 });
        Ok(Self {
            fields,
            segments,
            documents,
            average_length,
            holders,
            payload,
            vectors,
            numbers,
            searcher,
            keys: OnceLock::new(),
            turns: OnceLock::new(),
            graph: OnceLock::new(),
            speakers: OnceLock::new(),
            means: Mutex::default(),
            covered: Mutex::default(),
        })
    }

    /// Where the live document with this id stands.
    pub(crate) fn find(&self, id: &str) -> EngineResult<Option<Doc>> {
        let term = Term::from_field_text(self.fields.id, id);
        for segment in &self.segments {
            let Some(mut postings) = segment.id_terms.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            let mut document = postings.doc();
            while document != TERMINATED {
                if !segment.reader.is_deleted(document) {
                    return Ok(Some(segment.first + document));
                }
                document = postings.advance();
            }
        }
        Ok(None)
    }

    /// The segment that holds a document, and its number there.
    pub(crate) fn place(&self, doc: Doc) -> (usize, DocId) {
        let segment = self.segments.partition_point(|view| view.first <= doc) - 1;
        (segment, doc - self.segments[segment].first)
    }

    /// The document as it was added.
    pub(crate) fn document(&self, doc: Doc) -> EngineResult<Document> {
        let (segment, document) = self.place(doc);
        let stored: TantivyDocument = self.searcher.doc(DocAddress::new(segment as u32, document))?;
        let bytes = stored.get_first(self.fields.stored).and_then(|value| value.as_bytes()).unwrap_or_default();
        serde_json::from_slice(bytes).map_err(|error| {
            tantivy::error::DataCorruption::comment_only(format!("a stored document does not parse: {error}")).into()
        })
    }

    pub(crate) fn id_of(&self, doc: Doc) -> EngineResult<String> {
        let (segment, document) = self.place(doc);
        self.segments[segment].id_of(document)
    }

    /// The ids of all live documents, in alphabetical order.
    pub(crate) fn ids(&self) -> EngineResult<Vec<String>> {
        let mut ids = Vec::with_capacity(self.documents as usize);
        for segment in &self.segments {
            for document in segment.reader.doc_ids_alive() {
                ids.push(segment.id_of(document)?);
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// All live documents, in the order of their numbers.
    pub(crate) fn live(&self) -> impl Iterator<Item = Doc> + '_ {
        self.segments
            .iter()
            .flat_map(|segment| segment.reader.doc_ids_alive().map(move |document| segment.first + document))
    }

    /// The live documents that share each key of vectors, of texts and of texts with their context. Made once per
    /// commit, at the first search that needs it.
    pub(crate) fn keys(&self) -> &HashMap<u64, Vec<Doc>> {
        self.keys.get_or_init(|| {
            let mut keys: HashMap<u64, Vec<Doc>> = HashMap::with_capacity(self.documents as usize);
            for doc in self.live() {
                for key in [self.content(doc), self.in_context(doc)].into_iter().flatten() {
                    keys.entry(key).or_default().push(doc);
                }
            }
            keys
        })
    }

    /// The record of a conversation at a place in a session, both hashed; made once per commit.
    pub(crate) fn turn_at(&self, session: u64, position: u64) -> Option<Doc> {
        let turns = self.turns.get_or_init(|| {
            self.live().filter_map(|doc| Some((self.turn(doc)?, doc))).collect::<HashMap<(u64, u64), Doc>>()
        });
        turns.get(&(session, position)).copied()
    }

    /// The links between live documents; made once per commit.
    pub(crate) fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| {
            let mut builder = GraphBuilder::new(self.numbers);
            let linked = self.segments.iter().any(|segment| segment.columns.link_to.is_some());
            if linked {
                let by_node: HashMap<u64, Doc> = self
                    .live()
                    .filter_map(|doc| Some((self.value(doc, |columns| columns.node.as_ref())?, doc)))
                    .collect();
                for doc in self.live() {
                    let (segment, document) = self.place(doc);
                    let columns = &self.segments[segment].columns;
                    let (Some(to), Some(weights)) = (&columns.link_to, &columns.link_weight) else { continue };
                    for (to, weight) in to.values_for_doc(document).zip(weights.values_for_doc(document)) {
                        if let Some(&to) = by_node.get(&to) {
                            builder.link(doc, to, weight as f32);
                        }
                    }
                }
            }
            builder.build()
        })
    }

    /// The means of a model, made once per commit.
    pub(crate) fn language_means(&self, model: &str, make: impl FnOnce() -> LanguageMeans) -> Arc<LanguageMeans> {
        let mut means = self.means.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(means.entry(model.to_owned()).or_insert_with(|| Arc::new(make())))
    }

    /// How many live documents have a vector of a model; counted once per commit.
    pub(crate) fn covered(&self, model: &str, set: &VectorSet) -> u64 {
        let mut covered = self.covered.lock().unwrap_or_else(PoisonError::into_inner);
        *covered.entry(model.to_owned()).or_insert_with(|| {
            self.live().filter(|doc| self.content(*doc).is_some_and(|key| set.has(key))).count() as u64
        })
    }

    /// The speakers of the conversations, as their hash and the names by which they may be called.
    pub(crate) fn speakers(&self) -> EngineResult<&[(u64, Vec<String>)]> {
        if let Some(speakers) = self.speakers.get() {
            return Ok(speakers);
        }
        let prefix = filter_term(SPEAKER_FIELD, "");
        let mut names = std::collections::BTreeSet::new();
        for view in &self.segments {
            let mut stream = view.filter_terms.terms().range().ge(prefix.as_bytes()).into_stream()?;
            while stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
                names.insert(String::from_utf8_lossy(&stream.key()[prefix.len()..]).into_owned());
            }
        }
        let speakers = names.into_iter().map(|name| (hash(&[&name]), names_of(&name))).collect();
        Ok(self.speakers.get_or_init(|| speakers))
    }

    /// The hash of who said a record of a conversation.
    pub(crate) fn speaker(&self, doc: Doc) -> Option<u64> {
        self.value(doc, |columns| columns.speaker.as_ref())
    }

    fn value<T: PartialOrd + Copy + std::fmt::Debug + Send + Sync + 'static + Default>(
        &self,
        doc: Doc,
        column: impl Fn(&Columns) -> Option<&Column<T>>,
    ) -> Option<T> {
        let (segment, document) = self.place(doc);
        column(&self.segments[segment].columns)?.first(document)
    }

    pub(crate) fn content(&self, doc: Doc) -> Option<u64> {
        self.value(doc, |columns| columns.content.as_ref())
    }

    pub(crate) fn in_context(&self, doc: Doc) -> Option<u64> {
        self.value(doc, |columns| columns.in_context.as_ref())
    }

    pub(crate) fn language(&self, doc: Doc) -> Option<Language> {
        language_of_code(self.value(doc, |columns| columns.language.as_ref()).unwrap_or_default())
    }

    /// Milliseconds since 1970.
    pub(crate) fn created(&self, doc: Doc) -> Option<i64> {
        self.value(doc, |columns| columns.created.as_ref())
    }

    pub(crate) fn kind(&self, doc: Doc) -> Option<Kind> {
        Kind::ALL.get(self.value(doc, |columns| columns.kind.as_ref())? as usize).copied()
    }

    pub(crate) fn importance(&self, doc: Doc) -> Option<f64> {
        self.value(doc, |columns| columns.importance.as_ref())
    }

    /// The session, hashed, and the place in it.
    pub(crate) fn turn(&self, doc: Doc) -> Option<(u64, u64)> {
        let session = self.value(doc, |columns| columns.session.as_ref())?;
        Some((session, self.value(doc, |columns| columns.position.as_ref())?))
    }

    /// Whether a record of a conversation speaks of a time.
    pub(crate) fn timed(&self, doc: Doc) -> bool {
        self.value(doc, |columns| columns.timed.as_ref()) == Some(1)
    }

    pub(crate) fn words(&self, doc: Doc) -> u64 {
        self.value(doc, |columns| columns.words.as_ref()).unwrap_or_default()
    }

    /// Whether any live document is a record of a conversation.
    pub(crate) fn has_turns(&self) -> bool {
        self.holders[FieldKind::ContextGrams as usize] > 0
            || self.segments.iter().any(|segment| segment.columns.session.is_some())
    }

    /// Whether any document has a time.
    pub(crate) fn has_times(&self) -> bool {
        self.segments.iter().any(|segment| segment.columns.created.is_some())
    }

    /// The languages that live documents are written in, with their number; made from the lengths read at opening.
    pub(crate) fn languages(&self) -> Vec<(Option<Language>, u64)> {
        [
            (None, FieldKind::Other),
            (Some(Language::English), FieldKind::English),
            (Some(Language::Turkish), FieldKind::Turkish),
        ]
        .into_iter()
        .map(|(language, field)| (language, self.holders[field as usize]))
        .filter(|(_, holders)| *holders > 0)
        .collect()
    }
}

/// The hash by which a record of a session is found.
pub(crate) fn session_key(session: &str) -> u64 {
    hash(&[session])
}

impl SegmentView {
    fn new(reader: &SegmentReader, fields: &Fields, first: u32) -> EngineResult<Self> {
        let mut searched = Vec::with_capacity(FIELDS);
        for field in fields.searched {
            let lengths = reader.fieldnorms_readers().get_field(field)?;
            searched.push(SearchedField {
                terms: reader.inverted_index(field)?,
                lengths: lengths.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 0)),
            });
        }
        let fast = reader.fast_fields();
        let columns = Columns {
            node: fast.column_opt(column::NODE)?,
            content: fast.column_opt(column::CONTENT)?,
            in_context: fast.column_opt(column::IN_CONTEXT)?,
            language: fast.column_opt(column::LANGUAGE)?,
            created: fast.column_opt(column::CREATED)?,
            kind: fast.column_opt(column::KIND)?,
            importance: fast.column_opt(column::IMPORTANCE)?,
            session: fast.column_opt(column::SESSION)?,
            position: fast.column_opt(column::POSITION)?,
            speaker: fast.column_opt(column::SPEAKER)?,
            timed: fast.column_opt(column::TIMED)?,
            words: fast.column_opt(column::WORDS)?,
            link_to: fast.column_opt(column::LINK_TO)?,
            link_weight: fast.column_opt(column::LINK_WEIGHT)?,
        };
        Ok(Self {
            reader: reader.clone(),
            first,
            // There are as many as the array has places: one was pushed for each field.
            searched: searched.try_into().unwrap_or_else(|_| unreachable!("one reader for each field")),
            filter_terms: reader.inverted_index(fields.filter)?,
            ids: fast.str(column::ID)?,
            id_terms: reader.inverted_index(fields.id)?,
            columns,
        })
    }

    /// A number that orders the segment's documents as their ids do.
    pub(crate) fn id_order(&self, document: DocId) -> u64 {
        self.ids.as_ref().and_then(|ids| ids.ords().first(document)).unwrap_or(u64::MAX)
    }

    pub(crate) fn id_of(&self, document: DocId) -> EngineResult<String> {
        let mut id = String::new();
        if let Some(ids) = &self.ids {
            ids.ord_to_str(self.id_order(document), &mut id)?;
        }
        Ok(id)
    }

    /// When a document was made, in milliseconds since 1970, for passes over a whole segment.
    pub(crate) fn created_column(&self) -> Option<&Column<i64>> {
        self.columns.created.as_ref()
    }

    pub(crate) fn kind_column(&self) -> Option<&Column<u64>> {
        self.columns.kind.as_ref()
    }
}
