//! The index: documents in, rankings out.

mod folder;
mod schema;
mod snapshot;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tantivy::{IndexReader, ReloadPolicy, TantivyError};

pub(crate) use schema::format_name;
pub(crate) use snapshot::{SegmentView, Snapshot};

use crate::config::Config;
use crate::document::Document;
use crate::error::{Error, Result};
use crate::fusion::{RankedList, fuse};
use crate::lexical::LexicalVoice;
use crate::query::Query;
use crate::ranking::{Explanation, Hit, Ranking, Silence, VoiceReport};
use crate::voice::{Heard, Voice};
use folder::{CommitMark, Found};
use schema::Fields;
use writer::Writer;

/// Stands for the folder in errors about an index that has none.
const IN_MEMORY: &str = "(memory)";

/// Documents on disk or in memory, and the voices that rank them.
///
/// One handle is shared between threads by reference; all methods take `&self`. Any number of processes may have the
/// same folder open. Searches see the last commit, also one made by another process. Writing takes the index's lock
/// with the first change and gives it back with [`commit`](Self::commit) or [`rollback`](Self::rollback).
///
/// ```
/// use hatir_rank::{Config, Document, Index, Query};
///
/// let index = Index::in_memory(&Config::default())?;
/// index.replace_all([
///     Document::new("refund", "Refunds are paid within 14 days."),
///     Document::new("iade", "İadeler 14 gün içinde Ankara'ya ödenir."),
///     Document::new("misuse", "Damage through misuse is not covered."),
/// ])?;
///
/// let ranking = index.search(&Query::new("how long does a refund take"), 3)?;
/// assert_eq!(ranking.hits[0].id, "refund");
/// assert_eq!(ranking.hits.len(), 1, "the others share no content word");
///
/// let lexical = &ranking.hits[0].explanation.voices[0];
/// assert_eq!((lexical.voice.as_str(), lexical.rank), ("lexical", 1));
/// assert!(lexical.fields.iter().any(|part| part.field == "english" && part.terms == ["refund"]));
///
/// let nothing = index.search(&Query::new("weather in Oslo"), 3)?;
/// assert!(nothing.hits.is_empty());
/// assert_eq!(nothing.silent_because[0].reason, "no document holds any of the query's words");
/// # Ok::<(), hatir_rank::Error>(())
/// ```
pub struct Index {
    engine: tantivy::Index,
    folder: Option<PathBuf>,
    fields: Fields,
    config: Arc<Config>,
    reader: IndexReader,
    current: RwLock<Current>,
    pending: Mutex<Pending>,
}

/// The commit that searches see.
struct Current {
    snapshot: Arc<Snapshot>,
    mark: Option<CommitMark>,
}

/// Changes not yet committed.
#[derive(Default)]
struct Pending {
    writer: Option<Writer>,
    fingerprint: Option<String>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Index")
            .field("folder", &self.folder)
            .field("documents", &self.read_current().snapshot.documents)
            .finish_non_exhaustive()
    }
}

impl Index {
    /// An empty index that lives as long as the handle.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`].
    pub fn in_memory(config: &Config) -> Result<Self> {
        config.check()?;
        let fields = Fields::new();
        let engine = tantivy::Index::builder()
            .schema(fields.schema.clone())
            .settings(schema::engine_settings())
            .create_in_ram()
            .map_err(|error| Error::engine(Path::new(IN_MEMORY), error))?;
        Self::with_engine(engine, None, fields, config)
    }

    /// A new, empty index in a folder that is missing or empty; missing parents are made.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`], [`Error::NotAnIndex`] when other files stand there, [`Error::Io`],
    /// [`Error::InvalidConfig`].
    pub fn create(folder: impl AsRef<Path>, config: &Config) -> Result<Self> {
        config.check()?;
        let folder = folder.as_ref();
        if folder::look(folder)? == Found::Index {
            return Err(Error::AlreadyExists { folder: folder.to_path_buf() });
        }
        let fields = Fields::new();
        let engine = folder::create(folder, &fields)?;
        Self::with_engine(engine, Some(folder), fields, config)
    }

    /// The index in a folder. Reading needs no right to write there; many processes may read while one writes.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NotAnIndex`], [`Error::Incompatible`] when another version wrote it,
    /// [`Error::Corrupt`], [`Error::Io`], [`Error::InvalidConfig`].
    pub fn open(folder: impl AsRef<Path>, config: &Config) -> Result<Self> {
        config.check()?;
        let folder = folder.as_ref();
        let fields = Fields::new();
        let engine = folder::open(folder, &fields)?;
        Self::with_engine(engine, Some(folder), fields, config)
    }

    /// [`open`](Self::open) where an index stands, [`create`](Self::create) where none does.
    ///
    /// To index only what changed, compare [`fingerprint`](Self::fingerprint) with one of your own:
    ///
    /// ```
    /// use hatir_rank::{Config, Document, Index};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path().join("index");
    /// # for run in 0..2 {
    /// let index = Index::open_or_create(&folder, &Config::default())?;
    /// let fingerprint = "pages of 2026-03-01"; // a hash over the sources, for instance
    /// if index.fingerprint()?.as_deref() != Some(fingerprint) {
    ///     # assert_eq!(run, 0);
    ///     index.set_fingerprint(fingerprint);
    ///     index.replace_all([Document::new("a", "Refunds are paid within 14 days.")])?;
    /// }
    /// assert_eq!(index.len(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for `open` and `create`.
    pub fn open_or_create(folder: impl AsRef<Path>, config: &Config) -> Result<Self> {
        match folder::look(folder.as_ref())? {
            Found::Index => Self::open(folder, config),
            Found::Missing | Found::Empty | Found::Unfinished => Self::create(folder, config),
        }
    }

    /// A new, empty index in place of the one in the folder, whatever its state or version: the remedy for
    /// [`Error::Incompatible`] and [`Error::Corrupt`]. Readers that have the old one open keep what they see.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] when something else stands there (nothing is removed then), [`Error::Locked`],
    /// [`Error::Io`], [`Error::InvalidConfig`].
    pub fn rebuild(folder: impl AsRef<Path>, config: &Config) -> Result<Self> {
        config.check()?;
        folder::remove(folder.as_ref())?;
        Self::create(folder, config)
    }

    fn with_engine(engine: tantivy::Index, folder: Option<&Path>, fields: Fields, config: &Config) -> Result<Self> {
        let shown = folder.unwrap_or(Path::new(IN_MEMORY));
        // The mark is taken before the commit is read: a commit in between is then read again, and never missed.
        let mark = folder.and_then(folder::commit_mark);
        let reader: IndexReader = engine
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|error: TantivyError| Error::engine(shown, error))?;
        let snapshot = Snapshot::new(reader.searcher(), fields.clone()).map_err(|error| Error::engine(shown, error))?;
        Ok(Self {
            engine,
            folder: folder.map(Path::to_path_buf),
            fields,
            config: Arc::new(config.clone()),
            reader,
            current: RwLock::new(Current { snapshot: Arc::new(snapshot), mark }),
            pending: Mutex::new(Pending::default()),
        })
    }

    /// The folder, or `None` for an index in memory.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// How the index ranks.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Adds a document, in place of any with its id. Searches see it after [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`Error::InvalidDocument`] for an id that is empty or too long, [`Error::Locked`] while another handle or
    /// process writes, [`Error::Io`].
    pub fn add(&self, document: &Document) -> Result<()> {
        document.check()?;
        let mut pending = self.lock_pending();
        self.writer(&mut pending)?.put(&self.fields, document)
    }

    /// Removes the document with this id; none is no error. Searches see it after [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Io`].
    pub fn delete(&self, id: &str) -> Result<()> {
        let mut pending = self.lock_pending();
        self.writer(&mut pending)?.delete(&self.fields, id);
        Ok(())
    }

    /// Makes all changes since the last commit visible at once, durable, and gives the lock back. Without changes and
    /// without a new fingerprint nothing happens.
    ///
    /// A fingerprint lasts for one commit: a commit without [`set_fingerprint`](Self::set_fingerprint) clears it, so
    /// that it never describes other documents than those it was set for. Now and then a commit also joins small
    /// segments, which costs time in proportion to their size.
    ///
    /// # Errors
    /// [`Error::Io`] on a full disk for instance; the changes are then lost, the last commit stays.
    pub fn commit(&self) -> Result<()> {
        let mut pending = self.lock_pending();
        if pending.writer.is_none() && pending.fingerprint.is_none() {
            return Ok(());
        }
        self.writer(&mut pending)?;
        self.commit_pending(&mut pending)
    }

    /// Drops all changes since the last commit and gives the lock back.
    pub fn rollback(&self) {
        *self.lock_pending() = Pending::default();
    }

    /// Replaces all documents in one commit and gives their number: readers see the old or the new whole. Of several
    /// documents with one id the last stays. Changes that were not committed are dropped.
    ///
    /// # Errors
    /// [`Error::InvalidDocument`], [`Error::Locked`], [`Error::Io`]; after any of them the old documents stay.
    pub fn replace_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<usize> {
        let mut pending = self.lock_pending();
        pending.writer = None;
        let writer = Writer::open(&self.engine, self.folder.as_deref(), &self.config.writer)?;
        let count = writer.replace_all(&self.fields, documents.into_iter())?;
        pending.writer = Some(writer);
        self.commit_pending(&mut pending)?;
        Ok(count)
    }

    /// Sets the fingerprint that the next commit, or [`replace_all`](Self::replace_all), carries: any text by which
    /// the caller recognises its documents.
    pub fn set_fingerprint(&self, fingerprint: &str) {
        self.lock_pending().fingerprint = Some(fingerprint.to_owned());
    }

    /// The fingerprint of the last commit, or `None` when it was given none. Reads one small file.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn fingerprint(&self) -> Result<Option<String>> {
        let metas = self.engine.load_metas().map_err(|error| self.error(error))?;
        Ok(metas.payload.as_deref().and_then(schema::fingerprint_of))
    }

    /// How many documents searches see.
    pub fn len(&self) -> usize {
        self.snapshot().documents as usize
    }

    /// Whether searches see no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The document with this id, as of the last commit.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn get(&self, id: &str) -> Result<Option<Document>> {
        let snapshot = self.fresh_snapshot()?;
        let found = snapshot.find(id).map_err(|error| self.error(error))?;
        found.map(|address| snapshot.document(address)).transpose().map_err(|error| self.error(error))
    }

    /// The ids of all documents, in alphabetical order. Cost: a pass over all of them.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn ids(&self) -> Result<Vec<String>> {
        self.fresh_snapshot()?.ids().map_err(|error| self.error(error))
    }

    /// Reads every file of the index and compares checksums. Opening does not do that, since it takes as long as
    /// reading the whole index.
    ///
    /// # Errors
    /// [`Error::Corrupt`] naming the damaged files, [`Error::Io`].
    pub fn verify(&self) -> Result<()> {
        let damaged = self.engine.validate_checksum().map_err(|error| self.error(error))?;
        if damaged.is_empty() {
            return Ok(());
        }
        let mut names: Vec<String> = damaged.iter().map(|path| path.display().to_string()).collect();
        names.sort();
        let folder = self.folder.clone().unwrap_or_else(|| PathBuf::from(IN_MEMORY));
        Err(Error::Corrupt { folder, problem: format!("checksums differ in {}", names.join(", ")) })
    }

    /// Makes searches see the last commit now. They look for a new commit by themselves (one `stat` call per search);
    /// this does it unasked and reports what went wrong.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn refresh(&self) -> Result<()> {
        let mark = self.folder.as_deref().and_then(folder::commit_mark);
        self.reload(mark).map(drop)
    }

    /// The lexical voice over the last commit: the one that [`search`](Self::search) asks.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn lexical(&self) -> Result<LexicalVoice> {
        Ok(LexicalVoice::new(self.fresh_snapshot()?, &self.config.lexical, self.shown()))
    }

    /// The best `k` documents for a query, each explaining its score; when nothing matches, why.
    ///
    /// Any text is a valid query. A document that shares no content word with it is never returned. The result
    /// depends on the query, the configuration and the live documents, not on the order in which they came.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`].
    pub fn search(&self, query: &Query, k: usize) -> Result<Ranking> {
        self.search_with(query, k, &[])
    }

    /// The same with more voices beside the lexical one, fused by weighted reciprocal rank ([`fuse`]) with the
    /// weights of the configuration.
    ///
    /// # Errors
    /// As [`search`](Self::search), and whatever error a voice returns.
    pub fn search_with(&self, query: &Query, k: usize, voices: &[&dyn Voice]) -> Result<Ranking> {
        let snapshot = self.fresh_snapshot()?;
        let lexical = LexicalVoice::new(Arc::clone(&snapshot), &self.config.lexical, self.shown());
        let depth = if voices.is_empty() { k } else { k.max(self.config.depth) };
        let mut ranking = Ranking::default();
        let mut lists = Vec::with_capacity(voices.len() + 1);
        let lexical: &dyn Voice = &lexical;
        for voice in std::iter::once(lexical).chain(voices.iter().copied()) {
            lists.extend(self.ask(voice, query, depth, &snapshot, &mut ranking)?);
        }
        for fused in fuse(lists).into_iter().take(k) {
            let address = snapshot.find(&fused.id).map_err(|error| self.error(error))?;
            let Some(address) = address else { continue };
            let document = snapshot.document(address).map_err(|error| self.error(error))?;
            ranking.hits.push(Hit {
                id: fused.id,
                score: fused.score,
                document,
                explanation: Explanation { voices: fused.shares },
            });
        }
        Ok(ranking)
    }

    fn ask(
        &self,
        voice: &dyn Voice,
        query: &Query,
        depth: usize,
        snapshot: &Snapshot,
        ranking: &mut Ranking,
    ) -> Result<Option<RankedList>> {
        let name = voice.name().to_owned();
        let weight = self.config.weights.of(&name);
        let mut report = VoiceReport { voice: name.clone(), weight, candidates: 0, unknown: 0, silent: false };
        let heard = if weight > 0.0 { voice.hear(query, depth)? } else { Heard::silent("its weight is 0") };
        let (candidates, reason) = match heard {
            Heard::Silent(reason) => (Vec::new(), reason),
            Heard::Candidates(proposed) => {
                let mut known = Vec::with_capacity(proposed.len().min(depth));
                for candidate in proposed.into_iter().take(depth) {
                    if snapshot.find(&candidate.id).map_err(|error| self.error(error))?.is_some() {
                        known.push(candidate);
                    } else {
                        report.unknown += 1;
                    }
                }
                (known, "found nothing that the index holds".to_owned())
            }
        };
        report.candidates = candidates.len();
        report.silent = candidates.is_empty();
        if report.silent {
            ranking.silent_because.push(Silence { voice: name.clone(), reason });
        }
        ranking.voices.push(report);
        Ok((!candidates.is_empty()).then_some(RankedList { voice: name, weight, candidates }))
    }

    fn shown(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(IN_MEMORY))
    }

    fn error(&self, error: TantivyError) -> Error {
        Error::engine(self.shown(), error)
    }

    fn lock_pending(&self) -> MutexGuard<'_, Pending> {
        // A panic in a caller's iterator leaves changes that were never committed; they are as good as any others.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_current(&self) -> std::sync::RwLockReadGuard<'_, Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer<'p>(&self, pending: &'p mut Pending) -> Result<&'p Writer> {
        let writer = match pending.writer.take() {
            Some(writer) => writer,
            None => Writer::open(&self.engine, self.folder.as_deref(), &self.config.writer)?,
        };
        Ok(pending.writer.insert(writer))
    }

    fn commit_pending(&self, pending: &mut Pending) -> Result<()> {
        let fingerprint = pending.fingerprint.take();
        if let Some(writer) = pending.writer.take() {
            writer.commit(fingerprint.as_deref())?;
        }
        self.refresh()
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.read_current().snapshot)
    }

    /// The last commit, read again when another process made a new one. When the folder has gone, what was read
    /// before still stands.
    fn fresh_snapshot(&self) -> Result<Arc<Snapshot>> {
        let Some(folder) = &self.folder else { return Ok(self.snapshot()) };
        let mark = folder::commit_mark(folder);
        {
            let current = self.read_current();
            if mark.is_none() || current.mark == mark {
                return Ok(Arc::clone(&current.snapshot));
            }
        }
        self.reload(mark)
    }

    fn reload(&self, mark: Option<CommitMark>) -> Result<Arc<Snapshot>> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        self.reader.reload().map_err(|error| self.error(error))?;
        let snapshot = Snapshot::new(self.reader.searcher(), self.fields.clone()).map_err(|error| self.error(error))?;
        *current = Current { snapshot: Arc::new(snapshot), mark };
        Ok(Arc::clone(&current.snapshot))
    }
}
