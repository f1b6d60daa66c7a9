//! The index: documents in, rankings out.

mod folder;
mod schema;
mod snapshot;
mod vectors;
mod writer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tantivy::{IndexReader, ReloadPolicy, TantivyError};

pub(crate) use schema::{filter_term, format_name};
pub(crate) use snapshot::{Doc, SegmentView, Snapshot};

use crate::config::Config;
use crate::document::Document;
use crate::embed::{Embedder, ModelInfo};
use crate::error::{Error, Result};
use crate::lexical::LexicalVoice;
use crate::query::Query;
use crate::ranking::Ranking;
use crate::search::Search;
use crate::voice::Voice;
use folder::{CommitMark, Found};
use schema::{Fields, Payload, content_key, context_key, embedded_context, embedded_text};
use vectors::{Content, Files, Wanted};
use writer::{Writer, read_payload};

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
    files: Files,
    current: RwLock<Current>,
    pending: Mutex<Pending>,
    model: RwLock<Model>,
    /// A writer was ended before its end: everything is checked before the first use.
    unchecked: AtomicBool,
}

/// Who makes the vectors.
#[derive(Clone, Default)]
enum Model {
    #[default]
    None,
    Embedder(Arc<dyn Embedder>),
    Caller(Arc<ModelInfo>),
}

impl Model {
    fn info(&self) -> Option<&ModelInfo> {
        match self {
            Self::None => None,
            Self::Embedder(embedder) => Some(embedder.model()),
            Self::Caller(info) => Some(info),
        }
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        match self {
            Self::Embedder(embedder) => Some(embedder.as_ref()),
            Self::None | Self::Caller(_) => None,
        }
    }
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
    /// The texts of the documents added, and those that brought a vector.
    wanted: Vec<Wanted>,
    /// The last record added of each session, as it serves the next one for a context.
    turns: HashMap<String, (u64, String)>,
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
        schema::prepare(&engine);
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
        let reader: IndexReader = engine
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|error: TantivyError| Error::engine(shown, error))?;
        let files = Files::default();
        let current = read(&engine, &reader, &files, folder, &fields)?;
        let unchecked = AtomicBool::new(folder.is_some_and(|folder| folder::was_left(folder, &engine)));
        Ok(Self {
            engine,
            folder: folder.map(Path::to_path_buf),
            fields,
            config: Arc::new(config.clone()),
            reader,
            files,
            current: RwLock::new(current),
            pending: Mutex::new(Pending::default()),
            model: RwLock::default(),
            unchecked,
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

    /// From now on documents and queries become vectors by this embedder: at each [`commit`](Self::commit), or later by
    /// [`backfill`](Self::backfill) for what is there already. Vectors of other models are never compared with its own;
    /// they go once every document has one of its.
    pub fn use_embedder(&self, embedder: Arc<dyn Embedder>) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Model::Embedder(embedder);
    }

    /// From now on the caller brings the vectors himself, of documents ([`Document::with_vector`]) and of queries
    /// ([`Query::with_vector`]), all made by this model.
    pub fn use_model(&self, model: ModelInfo) {
        *self.model.write().unwrap_or_else(PoisonError::into_inner) = Model::Caller(Arc::new(model));
    }

    fn model(&self) -> Model {
        self.model.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a document, in place of any with its id. Searches see it after [`commit`](Self::commit).
    ///
    /// # Errors
    /// [`Error::InvalidDocument`] for an id that is empty or too long, a number out of its range, or a vector that is
    /// zero, not finite, or of another size than the model's; [`Error::Locked`] while another handle or process
    /// writes, [`Error::Io`].
    pub fn add(&self, document: &Document) -> Result<()> {
        let mut pending = self.lock_pending();
        let ready = self.ready(document, &mut pending)?;
        self.writer(&mut pending)?.put(&self.fields, &ready)?;
        self.want(&ready, &mut pending);
        Ok(())
    }

    /// Checks a document, and gives a record of a conversation its context.
    fn ready<'d>(&self, document: &'d Document, pending: &mut Pending) -> Result<std::borrow::Cow<'d, Document>> {
        document.check()?;
        if let Some(vector) = &document.vector {
            self.check_vector(document, vector)?;
        }
        let Some(turn) = &document.turn else { return Ok(std::borrow::Cow::Borrowed(document)) };
        let mut ready = document.clone();
        if ready.context.is_none() {
            let before = match pending.turns.get(&turn.session) {
                Some((position, text)) if position.checked_add(1) == Some(turn.position) => Some(text.clone()),
                _ => self.turn_before(&turn.session, turn.position)?,
            };
            ready.context = Some(context_of(before.as_deref(), document.created_at));
        }
        pending.turns.insert(turn.session.clone(), (turn.position, document.text.clone()));
        Ok(std::borrow::Cow::Owned(ready))
    }

    fn turn_before(&self, session: &str, position: u64) -> Result<Option<String>> {
        let snapshot = self.snapshot();
        let Some(before) = position.checked_sub(1) else { return Ok(None) };
        let Some(doc) = snapshot.turn_at(snapshot::session_key(session), before) else { return Ok(None) };
        Ok(Some(snapshot.document(doc).map_err(|error| self.error(error))?.text))
    }

    fn check_vector(&self, document: &Document, vector: &[f32]) -> Result<()> {
        let model = self.model();
        let problem = match model.info() {
            None => "it brings a vector, and no model was named that made it (`Index::use_model`)".to_owned(),
            Some(info) if vector.len() != info.dimension => {
                format!("its vector has {} numbers, {} has {}", vector.len(), info.name, info.dimension)
            }
            Some(_) if vector.iter().any(|value| !value.is_finite()) => {
                "its vector holds a number that is not finite".to_owned()
            }
            Some(_) if vector.iter().all(|value| *value == 0.0) => {
                "its vector is zero, which points nowhere".to_owned()
            }
            Some(_) => return Ok(()),
        };
        Err(Error::InvalidDocument { id: document.id.chars().take(80).collect(), problem })
    }

    /// Notes what has to become a vector with the next commit.
    fn want(&self, document: &Document, pending: &mut Pending) {
        let model = self.model();
        let id = || document.id.chars().take(80).collect::<String>();
        if let Some(vector) = &document.vector {
            let content = Content::Made(vector.clone());
            pending.wanted.push(Wanted { key: content_key(document), id: id(), content });
            return;
        }
        if model.embedder().is_none() || !self.config.embed_at_commit {
            return;
        }
        let content = Content::Text(embedded_text(document));
        pending.wanted.push(Wanted { key: content_key(document), id: id(), content });
        if let Some(text) = embedded_context(document) {
            pending.wanted.push(Wanted { key: context_key(document), id: id(), content: Content::Text(text) });
        }
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

    /// Makes all changes since the last commit visible at once, in all voices, durable, and gives the lock back.
    /// Without changes and without a new fingerprint nothing happens. With an embedder the new texts become vectors
    /// first, unless [`Config::embed_at_commit`] says otherwise; a text that has a vector keeps it.
    ///
    /// A fingerprint lasts for one commit: a commit without [`set_fingerprint`](Self::set_fingerprint) clears it, so
    /// that it never describes other documents than those it was set for. Now and then a commit also joins small
    /// segments and vector files, which costs time in proportion to their size.
    ///
    /// # Errors
    /// [`Error::Io`] on a full disk for instance, [`Error::Model`] when the embedder fails; the changes are then lost,
    /// the last commit stays.
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
    /// [`Error::InvalidDocument`], [`Error::Locked`], [`Error::Io`], [`Error::Model`]; after any of them the old
    /// documents stay.
    pub fn replace_all(&self, documents: impl IntoIterator<Item = Document>) -> Result<usize> {
        let mut pending = self.lock_pending();
        *pending = Pending { fingerprint: pending.fingerprint.take(), ..Pending::default() };
        let mut replacing = Writer::open(&self.engine, self.folder.as_deref(), &self.config.writer)?.replace_all()?;
        for document in documents {
            let ready = self.ready(&document, &mut pending)?;
            replacing.put(&self.fields, &ready)?;
            self.want(&ready, &mut pending);
        }
        let (writer, count) = replacing.done();
        pending.writer = Some(writer);
        self.commit_pending(&mut pending)?;
        Ok(count)
    }

    /// Makes vectors for documents that have none of the embedder's model, at most `limit` documents of them, in one
    /// commit. Call it until [`Backfill::left`] is 0, from a thread of its own if need be: searches go on meanwhile and
    /// use the vectors that are there, and what one call has committed no later one does again.
    ///
    /// `go_on` is asked before each batch of texts; once it says no, what is done by then is committed.
    ///
    /// # Errors
    /// [`Error::Model`] without an embedder or when it fails, [`Error::Locked`], [`Error::Io`].
    pub fn backfill(&self, limit: usize, go_on: &dyn Fn() -> bool) -> Result<Backfill> {
        let model = self.model();
        let (Some(embedder), Some(info)) = (model.embedder(), model.info()) else {
            return Err(Error::Model {
                folder: self.shown().to_path_buf(),
                problem: "the index was given no embedder".to_owned(),
                remedy: "give it one with `Index::use_embedder`".to_owned(),
            });
        };
        let mut pending = self.lock_pending();
        if pending.writer.is_some() {
            self.commit_pending(&mut pending)?;
        }
        let snapshot = self.fresh_snapshot()?;
        let set = snapshot.vectors.get(&info.fingerprint);
        let has = |key: Option<u64>| key.is_none_or(|key| set.is_some_and(|set| set.has(key)));
        let missing: Vec<Doc> =
            snapshot.live().filter(|doc| !has(snapshot.content(*doc)) || !has(snapshot.in_context(*doc))).collect();
        let mut backfill = Backfill { done: 0, left: missing.len() };
        let others = snapshot.payload.vectors.keys().any(|known| *known != info.fingerprint);
        if missing.is_empty() && !others {
            return Ok(backfill);
        }
        let mut wanted = Vec::new();
        for doc in missing.iter().take(limit) {
            let document = snapshot.document(*doc).map_err(|error| self.error(error))?;
            let texts = [
                (snapshot.content(*doc), Some(embedded_text(&document))),
                (snapshot.in_context(*doc), embedded_context(&document)),
            ];
            for (key, text) in texts {
                if let (Some(key), Some(text)) = (key.filter(|key| !has(Some(*key))), text) {
                    wanted.push(Wanted { key, id: document.id.clone(), content: Content::Text(text) });
                }
            }
        }
        let mut writer = Writer::open(&self.engine, self.folder.as_deref(), &self.config.writer)?;
        // Another process may have committed since the snapshot: its payload is the one to go on from.
        let mut payload = writer.payload()?;
        let texts = wanted.len();
        let embedded = self.files.add(self.folder.as_deref(), &mut payload, info, Some(embedder), wanted, go_on)?;
        backfill.done = if embedded >= texts { missing.len().min(limit) } else { embedded };
        backfill.left = missing.len() - backfill.done;
        if backfill.left == 0 {
            payload.vectors.retain(|known, _| *known == info.fingerprint);
        }
        writer.commit(&payload)?;
        self.settle(&mut writer, payload)?;
        Ok(backfill)
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
        Ok(read_payload(&self.engine, self.folder.as_deref())?.fingerprint)
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
        found.map(|doc| snapshot.document(doc)).transpose().map_err(|error| self.error(error))
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
            return match &self.folder {
                Some(folder) => Files::verify(folder, &read_payload(&self.engine, Some(folder))?),
                None => Ok(()),
            };
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
    /// Any text is a valid query. The result depends on the query, the configuration and the live documents, not on the
    /// order in which they came.
    ///
    /// # Errors
    /// [`Error::Corrupt`], [`Error::Io`], [`Error::Model`] when the embedder fails on the query.
    pub fn search(&self, query: &Query, k: usize) -> Result<Ranking> {
        self.search_with(query, k, &[])
    }

    /// The same with voices of the caller's own beside those of the query's mode.
    ///
    /// # Errors
    /// As [`search`](Self::search), and whatever error a voice returns.
    pub fn search_with(&self, query: &Query, k: usize, voices: &[&dyn Voice]) -> Result<Ranking> {
        let snapshot = self.fresh_snapshot()?;
        let model = self.model();
        let search = Search {
            snapshot: &snapshot,
            config: &self.config,
            embedder: model.embedder(),
            model: model.info(),
            folder: self.shown(),
        };
        search.run(query, k, voices)
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
        let Pending { writer, fingerprint, wanted, .. } = std::mem::take(pending);
        let Some(mut writer) = writer else { return Ok(()) };
        let mut payload = writer.payload()?;
        payload.fingerprint = fingerprint;
        let model = self.model();
        if let Some(info) = model.info() {
            let known = self.files.open(self.folder.as_deref(), &payload)?;
            let set = known.get(&info.fingerprint);
            let new = wanted.into_iter().filter(|one| !set.is_some_and(|set| set.has(one.key))).collect();
            self.files.add(self.folder.as_deref(), &mut payload, info, model.embedder(), new, &|| true)?;
        }
        writer.commit(&payload)?;
        self.settle(&mut writer, payload)
    }

    /// After a commit: joins small pieces, and removes what the last commit does not list.
    fn settle(&self, writer: &mut Writer, mut payload: Payload) -> Result<()> {
        writer.join_small_segments()?;
        self.refresh()?;
        if self.files.tidy(self.folder.as_deref(), &mut payload, &self.snapshot())? {
            writer.commit(&payload)?;
            self.refresh()?;
        }
        if let Some(folder) = &self.folder {
            vectors::remove_others(folder, &payload);
        }
        Ok(())
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.read_current().snapshot)
    }

    /// The last commit, read again when another process made a new one. When the folder has gone, what was read
    /// before still stands.
    fn fresh_snapshot(&self) -> Result<Arc<Snapshot>> {
        let Some(folder) = &self.folder else { return Ok(self.snapshot()) };
        if self.unchecked.load(Ordering::Acquire) {
            self.verify()?;
            self.unchecked.store(false, Ordering::Release);
            folder::forget_left(folder, &self.engine);
        }
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
        *current = read(&self.engine, &self.reader, &self.files, self.folder.as_deref(), &self.fields)?;
        if mark.is_some() {
            current.mark = mark;
        }
        Ok(Arc::clone(&current.snapshot))
    }
}

/// How far the making of vectors has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backfill {
    /// How many documents got their vectors in this call.
    pub done: usize,
    /// How many still have none.
    pub left: usize,
}

/// How often the last commit is read again when another process commits meanwhile.
const TRIES: usize = 20;

/// Reads the last commit: documents, and the vector files that it lists.
fn read(
    engine: &tantivy::Index,
    reader: &IndexReader,
    files: &Files,
    folder: Option<&Path>,
    fields: &Fields,
) -> Result<Current> {
    let shown = folder.unwrap_or(Path::new(IN_MEMORY));
    let failed = |error| Error::engine(shown, error);
    let mut tries = 0;
    loop {
        tries += 1;
        // The mark is taken before the commit is read: a commit in between is then read again, and never missed.
        let mark = folder.and_then(folder::commit_mark);
        let before = engine.load_metas().map_err(failed)?;
        reader.reload().map_err(failed)?;
        let payload = read_payload(engine, folder)?;
        let opened = files.open(folder, &payload);
        let after = engine.load_metas().map_err(failed)?;
        // Documents and vectors must be of one commit, and files may go with the next.
        if before.opstamp == after.opstamp && before.payload == after.payload || tries >= TRIES {
            let snapshot = Snapshot::new(reader.searcher(), fields.clone(), payload, opened?).map_err(failed)?;
            return Ok(Current { snapshot: Arc::new(snapshot), mark });
        }
    }
}

/// How much of the record before it a record's context has, in characters.
const CONTEXT_CHARS: usize = 300;

/// What was said before, and the date.
fn context_of(before: Option<&str>, time: Option<jiff::Timestamp>) -> String {
    let mut context: String = before.unwrap_or_default().chars().take(CONTEXT_CHARS).collect();
    if let Some(time) = time {
        if !context.is_empty() {
            context.push('\n');
        }
        // Written out, so that "in May" finds it; in UTC, since an index knows no reader's zone.
        context.push_str(&time.to_zoned_datetime(jiff::tz::TimeZone::UTC).strftime("%-d %B %Y").to_string());
    }
    context
}
