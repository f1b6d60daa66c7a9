//! One commit of an index, opened for reading.

use std::sync::Arc;

use tantivy::columnar::StrColumn;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::{
    DocAddress, DocId, DocSet, InvertedIndexReader, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term,
};

use super::schema::{Fields, ID};
use crate::analysis::FieldKind;
use crate::document::Document;

type EngineResult<T> = tantivy::Result<T>;

/// The live documents of one commit, with the statistics that scores are made from.
pub(crate) struct Snapshot {
    pub(crate) fields: Fields,
    pub(crate) segments: Vec<SegmentView>,
    /// How many documents are live.
    pub(crate) documents: u64,
    /// The mean length of each field over the live documents that have it, in terms; 0 when none has.
    pub(crate) average_length: [f64; 4],
    searcher: Searcher,
}

/// A segment's readers, looked up once per commit and not once per query.
pub(crate) struct SegmentView {
    pub(crate) reader: SegmentReader,
    pub(crate) searched: [SearchedField; 4],
    ids: Option<StrColumn>,
    id_terms: Arc<InvertedIndexReader>,
}

pub(crate) struct SearchedField {
    pub(crate) terms: Arc<InvertedIndexReader>,
    pub(crate) lengths: FieldNormReader,
}

impl Snapshot {
    /// Reads the length of every live document (one byte per field), so that the statistics count no deleted one and
    /// scores depend on the live documents alone, not on how they came in.
    pub(crate) fn new(searcher: Searcher, fields: Fields) -> EngineResult<Self> {
        let mut segments = Vec::with_capacity(searcher.segment_readers().len());
        let mut total = [0_u64; 4];
        let mut holders = [0_u64; 4];
        let mut documents = 0;
        for reader in searcher.segment_readers() {
            let view = SegmentView::new(reader, &fields)?;
            documents += u64::from(reader.num_docs());
            for (at, searched) in view.searched.iter().enumerate() {
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
        Ok(Self { fields, segments, documents, average_length, searcher })
    }

    /// Where the live document with this id stands.
    pub(crate) fn find(&self, id: &str) -> EngineResult<Option<DocAddress>> {
        let term = Term::from_field_text(self.fields.id, id);
        for (ordinal, segment) in self.segments.iter().enumerate() {
            let Some(mut postings) = segment.id_terms.read_postings(&term, IndexRecordOption::Basic)? else { continue };
            let mut document = postings.doc();
            while document != TERMINATED {
                if !segment.reader.is_deleted(document) {
                    return Ok(Some(DocAddress::new(ordinal as u32, document)));
                }
                document = postings.advance();
            }
        }
        Ok(None)
    }

    /// The document as it was added.
    pub(crate) fn document(&self, address: DocAddress) -> EngineResult<Document> {
        let stored: TantivyDocument = self.searcher.doc(address)?;
        let bytes = stored.get_first(self.fields.stored).and_then(|value| value.as_bytes()).unwrap_or_default();
        serde_json::from_slice(bytes).map_err(|error| {
            tantivy::error::DataCorruption::comment_only(format!("a stored document does not parse: {error}")).into()
        })
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
}

impl SegmentView {
    fn new(reader: &SegmentReader, fields: &Fields) -> EngineResult<Self> {
        let field = |kind: FieldKind| -> EngineResult<SearchedField> {
            let field = fields.searched[kind as usize];
            let lengths = reader.fieldnorms_readers().get_field(field)?;
            Ok(SearchedField {
                terms: reader.inverted_index(field)?,
                lengths: lengths.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 0)),
            })
        };
        Ok(Self {
            reader: reader.clone(),
            searched: [
                field(FieldKind::Neutral)?,
                field(FieldKind::English)?,
                field(FieldKind::Turkish)?,
                field(FieldKind::Identifiers)?,
            ],
            ids: reader.fast_fields().str(ID)?,
            id_terms: reader.inverted_index(fields.id)?,
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
}
