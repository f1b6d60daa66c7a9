//! Vector files and sets of them: what is stored is found, nearest first, and damage is named.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use hatir_rank::Error;
use hatir_rank::vectors::{
    CONTEXT, FileRecord, FileState, Probe, Row, TEXT, VectorFile, VectorSet, VectorWriter, is_temporary, merge, plan,
};
use proptest::prelude::*;

const MODEL: &str = "test-model";

fn row(stamp: u64, part: u8) -> Row {
    Row { stamp, part }
}

fn write(folder: &Path, name: &str, rows: &[(u64, u8, Vec<f32>)]) -> VectorFile {
    let mut writer = VectorWriter::create(folder, name, rows[0].2.len(), MODEL).unwrap();
    for (stamp, part, vector) in rows {
        writer.push(row(*stamp, *part), "id", vector).unwrap();
    }
    writer.finish().unwrap()
}

fn in_memory(rows: &[(u64, u8, Vec<f32>)], dimension: usize) -> VectorFile {
    let mut writer = VectorWriter::in_memory(dimension, MODEL).unwrap();
    for (stamp, part, vector) in rows {
        writer.push(row(*stamp, *part), "id", vector).unwrap();
    }
    writer.finish().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

fn corrupt(result: Result<impl std::fmt::Debug, Error>, name: &str) -> String {
    match result {
        Err(error @ Error::Corrupt { .. }) => {
            let message = error.to_string();
            assert!(message.contains(name), "{message}");
            message
        }
        other => panic!("expected damage to be named: {other:?}"),
    }
}

/// Documents with windows and contexts, spread over files that are partly on disk.
fn sample() -> Vec<(u64, u8, Vec<f32>)> {
    vec![
        (3, TEXT, vec![1.0, 0.0, 0.0]),
        (3, TEXT, vec![0.0, 2.0, 0.0]),
        (3, CONTEXT, vec![0.0, 0.0, 5.0]),
        (8, TEXT, vec![3.0, 4.0, 0.0]),
    ]
}

#[test]
fn what_was_written_is_there_after_opening() {
    let place = tempfile::tempdir().unwrap();
    let written = write(place.path(), "v1", &sample());
    assert_eq!(names(place.path()), ["v1"]);
    let record = written.record().clone();
    drop(written);
    let json = serde_json::to_string(&record).unwrap();
    let record: FileRecord = serde_json::from_str(&json).unwrap();
    let file = VectorFile::open(place.path(), &record, MODEL).unwrap();
    file.verify_full().unwrap();
    assert_eq!((file.rows(), file.dimension(), file.span()), (4, 3, Some((3, 8))));
    assert_eq!(fs::metadata(place.path().join("v1")).unwrap().len(), record.bytes);

    for file in [file, in_memory(&sample(), 3)] {
        assert_eq!(file.keys().collect::<Vec<_>>(), [row(3, 0), row(3, 0), row(3, 1), row(8, 0)]);
        let set = VectorSet::new(vec![Arc::new(file)]).unwrap();
        assert_eq!((set.dimension(), set.rows()), (Some(3), 4));
        let probe = Probe::new(&[0.0, 1.0, 1.0]).unwrap();
        let near = set.similarity(&probe, 3).unwrap();
        assert!((near.text - 0.5_f32.sqrt()).abs() < 1e-3 && (near.context.unwrap() - 0.5_f32.sqrt()).abs() < 1e-3);
        assert_eq!(set.similarity(&probe, 8).unwrap().context, None);
        assert_eq!(set.similarity(&probe, 4), None);
        assert_eq!(set.vector(3).unwrap(), [1.0, 0.0, 0.0]);
        assert_eq!(set.vector(9), None);
        let nearest = set.nearest(&Probe::new(&[0.0, 1.0, 0.0]).unwrap(), 9, TEXT, &|_| true, 2);
        assert_eq!(nearest.iter().map(|(stamp, _)| *stamp).collect::<Vec<_>>(), [3, 8]);
        assert_eq!(set.nearest(&probe, 9, CONTEXT, &|_| true, 2).len(), 1);
        assert_eq!(set.nearest(&Probe::new(&[1.0, 0.0]).unwrap(), 9, TEXT, &|_| true, 2), []);
    }
}

#[test]
fn vectors_that_cannot_be_compared_are_refused_with_their_document() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::create(place.path(), "v1", 2, MODEL).unwrap();
    writer.push(row(5, 0), "fine", &[1.0, 1.0]).unwrap();
    let refused = [
        (row(6, 0), vec![1.0], "1 numbers"),
        (row(6, 0), vec![f32::NAN, 1.0], "NaN"),
        (row(6, 0), vec![1.0, f32::INFINITY], "inf"),
        (row(6, 0), vec![0.0, 0.0], "zero"),
        (row(4, 0), vec![1.0, 0.0], "version 4"),
    ];
    for (row, vector, expected) in refused {
        match writer.push(row, &"x".repeat(100), &vector) {
            Err(Error::InvalidDocument { id, problem }) => {
                assert_eq!(id.len(), 80);
                assert!(problem.contains(expected), "{problem}");
            }
            other => panic!("{vector:?}: {other:?}"),
        }
    }
    writer.push(row(5, 1), "fine", &[1.0, -1.0]).unwrap();
    assert_eq!(writer.finish().unwrap().rows(), 2);
    for dimension in [0, 8_193] {
        assert!(matches!(VectorWriter::in_memory(dimension, MODEL), Err(Error::InvalidConfig { .. })));
    }
}

#[test]
fn an_unfinished_file_disappears_with_its_writer() {
    let place = tempfile::tempdir().unwrap();
    let mut writer = VectorWriter::create(place.path(), "v1", 2, MODEL).unwrap();
    writer.push(row(1, 0), "a", &[1.0, 0.0]).unwrap();
    let during = names(place.path());
    assert!(during.len() == 1 && is_temporary(&during[0]), "{during:?}");
    drop(writer);
    assert_eq!(names(place.path()), [""; 0]);
    assert!(!is_temporary("v1"));
}

#[test]
fn a_flip_of_any_byte_is_found() {
    let place = tempfile::tempdir().unwrap();
    let record = write(place.path(), "v1", &sample()).record().clone();
    let path = place.path().join("v1");
    let good = fs::read(&path).unwrap();
    let mut found_at_opening = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        // Never in place: another test of this process may have the file mapped.
        fs::remove_file(&path).unwrap();
        fs::write(&path, &bytes).unwrap();
        match VectorFile::open(place.path(), &record, MODEL) {
            Err(error) => {
                corrupt(Err::<(), _>(error), "v1");
                found_at_opening += 1;
            }
            Ok(file) => {
                corrupt(file.verify_full(), "v1");
            }
        }
    }
    // Magic, version, dimension, fingerprint; number of rows, checksum, magic.
    assert_eq!(found_at_opening, 24 + 20);
}

#[test]
fn other_files_are_refused_when_opened() {
    let place = tempfile::tempdir().unwrap();
    let record = write(place.path(), "v1", &sample()).record().clone();
    let other = write(place.path(), "v2", &[sample()[..3].to_vec(), vec![(9, 0, vec![1.0, 1.0, 1.0])]].concat());
    let other = other.record().clone();
    assert_eq!(other.bytes, record.bytes);
    let path = place.path().join("v1");
    let good = fs::read(&path).unwrap();
    let open = |bytes: Option<&[u8]>, record: &FileRecord| {
        fs::remove_file(&path).unwrap();
        if let Some(bytes) = bytes {
            fs::write(&path, bytes).unwrap();
        }
        let result = VectorFile::open(place.path(), record, MODEL);
        fs::write(&path, &good).unwrap();
        result
    };
    assert!(corrupt(open(None, &record), "v1").contains("missing"));
    for length in [0, 1, 63, 84, good.len() / 2, good.len() - 1] {
        let message = corrupt(open(Some(&good[..length]), &record), "v1");
        assert!(message.contains(&format!("{length} bytes")), "{message}");
        let believed = FileRecord { bytes: length as u64, ..record.clone() };
        corrupt(open(Some(&good[..length]), &believed), "v1");
    }
    corrupt(open(Some(&[&good[..], b"more"].concat()), &record), "v1");
    let swapped = fs::read(place.path().join("v2")).unwrap();
    assert!(corrupt(open(Some(&swapped), &record), "v1").contains("checksum"));
    assert!(corrupt(VectorFile::open(place.path(), &record, "newer-model"), "v1").contains("newer-model"));
    for rows in [0, 3, 5, 1 << 61, u64::MAX] {
        corrupt(open(Some(&good), &FileRecord { rows, ..record.clone() }), "v1");
    }
    for dimension in [0, 2, 4, usize::MAX] {
        corrupt(open(Some(&good), &FileRecord { dimension, ..record.clone() }), "v1");
    }
    for name in ["", "..", "../v1", "sub/v1", "/v1"] {
        let record = FileRecord { name: name.to_owned(), ..record.clone() };
        corrupt(VectorFile::open(place.path(), &record, MODEL), name);
        assert!(VectorWriter::create(place.path(), name, 3, MODEL).is_err());
    }
    open(Some(&good), &record).unwrap().verify_full().unwrap();
}

#[test]
fn files_of_several_dimensions_make_no_set() {
    let files = [vec![(1, 0, vec![1.0, 0.0])], vec![(2, 0, vec![1.0, 0.0, 0.0])]];
    let files = files.iter().map(|rows| Arc::new(in_memory(rows, rows[0].2.len()))).collect();
    corrupt(VectorSet::new(files), "(memory)");
}

#[test]
fn a_mean_is_of_the_living_texts_of_a_group() {
    let rows = [
        (1, TEXT, vec![1.0, 0.0]),
        (1, CONTEXT, vec![0.0, -1.0]),
        (2, TEXT, vec![0.0, 1.0]),
        (3, TEXT, vec![-1.0, 0.0]),
        (4, TEXT, vec![0.0, -1.0]),
    ];
    let set = VectorSet::new(vec![Arc::new(in_memory(&rows, 2))]).unwrap();
    let group = |stamp| [None, Some(0), Some(0), Some(2), None][stamp as usize];
    let expected = [(vec![0.5, 0.5], 2), (vec![0.0, 0.0], 0), (vec![-1.0, 0.0], 1)];
    assert_eq!(set.mean(&group), expected);
    assert_eq!(VectorSet::default().mean(&group), []);
}

#[test]
fn merging_keeps_the_living_bit_for_bit() {
    let place = tempfile::tempdir().unwrap();
    let odd: Vec<_> = (0..20).map(|at| (at * 2 + 1, TEXT, vec![1.0, at as f32, 0.3])).collect();
    let even: Vec<_> = (0..20).map(|at| (at * 2, TEXT, vec![-1.0, 0.7, at as f32])).collect();
    let files = vec![Arc::new(write(place.path(), "odd", &odd)), Arc::new(in_memory(&even, 3))];
    let live = |stamp: u64| !stamp.is_multiple_of(3);
    let merged = merge(&files, &live, place.path(), "both", MODEL).unwrap().unwrap();
    merged.verify_full().unwrap();
    let stamps: Vec<u64> = merged.keys().map(|key| key.stamp).collect();
    assert_eq!(stamps, (0..40).filter(|stamp| live(*stamp)).collect::<Vec<_>>());
    let before = VectorSet::new(files.clone()).unwrap();
    let after = VectorSet::new(vec![Arc::new(merged)]).unwrap();
    for stamp in 0..40 {
        let expected = if live(stamp) { before.vector(stamp) } else { None };
        assert_eq!(after.vector(stamp), expected, "{stamp}");
    }
    assert!(merge(&files, &|_| false, place.path(), "none", MODEL).unwrap().is_none());
    assert_eq!(names(place.path()), ["both", "odd"]);
    assert_eq!(FileState::of(&files[1], &live), FileState { rows: 20, live: 13 });
}

#[test]
fn files_are_merged_when_there_are_many_or_when_they_are_half_empty() {
    let files = |states: &[(usize, usize)]| {
        plan(&states.iter().map(|(rows, live)| FileState { rows: *rows, live: *live }).collect::<Vec<_>>())
    };
    assert_eq!(files(&[]), None);
    assert_eq!(files(&[(1, 1), (1, 1), (1, 1)]), None);
    assert_eq!(files(&[(1, 1), (900, 900), (1, 1), (1, 1), (2, 2)]), Some(vec![0, 2, 3, 4]));
    assert_eq!(files(&[(1000, 700), (5, 5)]), None, "30 % are still borne");
    assert_eq!(files(&[(5, 5), (1000, 699)]), Some(vec![1]));
    assert_eq!(files(&[(5, 0)]), Some(vec![0]));

    // Many commits of one document each leave few files, and rows are rarely written again.
    let mut states: Vec<FileState> = Vec::new();
    let mut written = 0;
    for _ in 0..100_000 {
        states.push(FileState { rows: 1, live: 1 });
        while let Some(chosen) = plan(&states) {
            let rows = chosen.iter().map(|at| states[*at].live).sum();
            written += rows;
            let mut at = 0;
            states.retain(|_| {
                at += 1;
                !chosen.contains(&(at - 1))
            });
            states.push(FileState { rows, live: rows });
        }
        assert!(states.len() <= 27, "{states:?}");
    }
    assert!(written <= 9 * 100_000, "{written}");
}

/// Some files of vectors with few different numbers, so that there are ties, with windows and with gaps.
fn some_files() -> impl Strategy<Value = Vec<Vec<(u64, u8, Vec<f32>)>>> {
    let vector = prop::collection::vec((-2_i8..=2).prop_map(f32::from), 5);
    let nonzero = vector.prop_filter("zero", |vector| vector.iter().any(|number| *number != 0.0));
    let rows = prop::collection::vec((0_u64..30, 0_u8..2, nonzero, 0_usize..3), 0..60);
    rows.prop_map(|rows| {
        let mut files = vec![Vec::new(), Vec::new(), Vec::new()];
        let home: Vec<usize> = (0..60).map(|key| rows.get(key).map_or(0, |row| row.3)).collect();
        for (stamp, part, vector, _) in rows {
            files[home[(stamp * 2 + u64::from(part)) as usize]].push((stamp, part, vector));
        }
        for file in &mut files {
            file.sort_by_key(|(stamp, part, _): &(u64, u8, Vec<f32>)| (*stamp, *part));
        }
        files
    })
}

proptest! {
    #[test]
    fn the_nearest_are_those_of_a_naive_search(
        files in some_files(), query in prop::collection::vec(-2.0_f32..2.0, 5),
        count in 0_usize..12, part in 0_u8..2, allowed in prop::collection::vec(any::<bool>(), 30), claim in 0_usize..60,
    ) {
        prop_assume!(Probe::new(&query).is_some());
        let probe = Probe::new(&query).unwrap();
        let set = VectorSet::new(files.iter().map(|rows| Arc::new(in_memory(rows, 5))).collect()).unwrap();
        let allows = |stamp: u64| allowed[stamp as usize];
        let mut naive: Vec<(u64, f32)> = Vec::new();
        let mut seen = 0;
        set.all(&probe, &mut |stamp, found, cosine| {
            seen += 1;
            if found != part || !allows(stamp) {
                return;
            }
            match naive.iter_mut().find(|known| known.0 == stamp) {
                Some(known) => known.1 = known.1.max(cosine),
                None => naive.push((stamp, cosine)),
            }
        });
        prop_assert_eq!(seen, files.iter().map(Vec::len).sum::<usize>());
        for (stamp, cosine) in &naive {
            let windows = files.iter().flatten().filter(|row| (row.0, row.1) == (*stamp, part));
            let expected = windows.map(|row| naive_cosine(&query, &row.2)).fold(f32::MIN, f32::max);
            prop_assert!((cosine - expected).abs() < 1e-3);
        }
        naive.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        naive.truncate(count);
        // How many are allowed decides only in which order things are looked at.
        prop_assert_eq!(set.nearest_exact(&probe, count, part, &allows, claim), naive);
    }
}

fn naive_cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(left, right)| left * right).sum::<f32>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}
