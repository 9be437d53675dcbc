//! Tests of how plugins are identified.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::*;
use crate::discover::scratch::Scratch;
use crate::error::Code;

/// A file that was written long ago, as far as its times tell.
fn old_file(folder: &Scratch, content: &str) -> PathBuf {
    let path = folder.write("plugin.so", content);
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(&path).unwrap().set_modified(hour_ago).unwrap();
    path
}

#[test]
fn a_hash_is_shown_in_hexadecimal() {
    let hash = Hash(std::array::from_fn(|index| index as u8 * 8 + 1));
    assert_eq!(hash.to_string().len(), 64);
    assert_eq!(format!("{hash:.8}"), "01091119");
}

#[test]
fn the_content_identifies_a_plugin() {
    let folder = Scratch::new("plugin-file");
    let path = folder.write("a/plugin.so", "abc");
    let here = PluginFile::of(&path, &FileStat::of(&path).unwrap(), &[]).unwrap();
    assert_eq!(here.name, "plugin.so");
    assert_eq!(here.hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    let large = folder.write("large.so", "x".repeat(3 << 20 | 5));
    let other = PluginFile::of(&large, &FileStat::of(&large).unwrap(), &[]).unwrap();
    assert_ne!(other.hash, here.hash);
}

#[test]
fn looks_say_something_once_a_change_would_show() {
    const SECOND: i64 = 1_000_000_000;
    let changed = |changed| FileStat { inode: 1, size: 1, modified: 5, changed };
    let fine = changed(1000 * SECOND + 7);
    assert!(!fine.is_settled(fine.changed + SECOND / 20) && fine.is_settled(fine.changed + SECOND / 5));
    let coarse = changed(1000 * SECOND);
    assert!(
        !coarse.is_settled(coarse.changed + 2 * SECOND) && coarse.is_settled(coarse.changed + 4 * SECOND)
    );
    assert!(!changed(i64::MAX).is_settled(i64::MAX) && !fine.is_settled(0));
}

#[test]
fn a_known_look_saves_reading() {
    let folder = Scratch::new("plugin-known");
    let path = old_file(&folder, "abc");
    let stat = FileStat::of(&path).unwrap();
    let known = PluginFile { name: "old name".into(), hash: Hash([7; 32]), stat: Some(stat) };
    let unknown = PluginFile { stat: None, hash: Hash([8; 32]), ..known.clone() };
    let found = PluginFile::of(&path, &stat, &[unknown, known]).unwrap();
    assert_eq!((found.name.as_str(), found.hash), ("plugin.so", Hash([7; 32])));
}

#[test]
fn a_file_that_was_replaced_is_refused() {
    let folder = Scratch::new("plugin-replaced");
    let path = old_file(&folder, "abc");
    let loaded = FileStat::of(&path).unwrap();
    assert_eq!(loaded.unchanged(&path).unwrap(), loaded);
    fs::remove_file(&path).unwrap();
    old_file(&folder, "abc");
    let error = PluginFile::of(&path, &loaded, &[]).unwrap_err();
    assert_eq!(loaded.unchanged(&path).unwrap_err().message(), error.message());
    assert_eq!(error.code(), Code::FailedPrecondition);
    assert!(error.message().contains("changed"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(PluginFile::of(&path, &loaded, &[]).unwrap_err().message().contains("cannot read"));
    assert!(FileStat::of(&path).is_err());
}
