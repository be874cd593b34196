//! Endpoints in a directory of their own, with real sockets.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;
use crate::bridge::tests::Fixed;

fn places(temp: &tempfile::TempDir) -> Places {
    Places::new([temp.path().join("k")])
}

fn root(temp: &tempfile::TempDir) -> PathBuf {
    let root = temp.path().join("workspace");
    std::fs::create_dir_all(root.join("deep/down")).unwrap();
    root
}

async fn start(places: &Places, roots: &[PathBuf]) -> Endpoint {
    let source = Arc::new(Fixed::new("live"));
    Endpoint::start(places, roots, source).await.unwrap()
}

async fn ask(found: &Found, message: Value) -> Value {
    let (reader, mut writer) = found.connect().await.unwrap();
    writer
        .write_all(format!("{message}\n").as_bytes())
        .await
        .unwrap();
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

fn files(places: &Places) -> usize {
    places
        .existing()
        .iter()
        .map(|place| std::fs::read_dir(place.dir()).unwrap().count())
        .sum()
}

#[tokio::test]
async fn an_endpoint_is_found_from_inside_its_roots_answers_and_leaves_nothing_behind() {
    let temp = tempfile::tempdir().unwrap();
    let (places, root) = (places(&temp), root(&temp));
    let endpoint = start(&places, std::slice::from_ref(&root)).await;
    assert!(places.find(temp.path()).is_empty());
    let found = places.find(&root.join("deep/down"));
    assert_eq!(found.len(), 1);
    let answer = ask(
        &found[0],
        json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    )
    .await;
    assert_eq!(answer["id"], 1);
    drop(endpoint);
    assert_eq!(files(&places), 0);
}

#[tokio::test]
async fn the_newest_comes_first_and_roots_may_change() {
    let temp = tempfile::tempdir().unwrap();
    let (places, root) = (places(&temp), root(&temp));
    let one = start(&places, std::slice::from_ref(&root)).await;
    let mut two = start(&places, std::slice::from_ref(&root)).await;
    assert_ne!(one.socket(), two.socket());
    assert_eq!(places.find(&root)[0].socket, two.socket());
    two.set_roots(&[root.join("deep")]).unwrap();
    assert_eq!(places.find(&root)[0].socket, one.socket());
    assert_eq!(places.find(&root.join("deep")).len(), 2);
}

#[tokio::test]
async fn what_a_dead_language_server_left_is_replaced_and_swept() {
    let temp = tempfile::tempdir().unwrap();
    let (places, root) = (places(&temp), root(&temp));
    let place = places.create().unwrap();
    let endpoint = start(&places, std::slice::from_ref(&root)).await;
    let found = places.find(&root).remove(0);
    drop(endpoint);
    // A socket under the very name this process will want, nobody listening, and its record.
    drop(std::os::unix::net::UnixListener::bind(&found.socket).unwrap());
    let record = found.socket.with_extension("json");
    std::fs::write(&record, serde_json::to_vec(&found.record).unwrap()).unwrap();
    // And one of another process.
    let other = Record {
        socket: "0-1.sock".to_owned(),
        ..found.record.clone()
    };
    drop(std::os::unix::net::UnixListener::bind(place.dir().join("0-1.sock")).unwrap());
    std::fs::write(
        place.dir().join("0-1.json"),
        serde_json::to_vec(&other).unwrap(),
    )
    .unwrap();

    let endpoint = start(&places, std::slice::from_ref(&root)).await;
    assert_eq!(endpoint.socket(), found.socket);
    assert_eq!(files(&places), 2);
    let found = places.find(&root).remove(0);
    let answer = ask(&found, json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert_eq!(answer["id"], 2);
}

#[tokio::test]
async fn a_broken_record_is_passed_over() {
    let temp = tempfile::tempdir().unwrap();
    let (places, root) = (places(&temp), root(&temp));
    let place = places.create().unwrap();
    std::fs::write(place.dir().join("a.json"), "{").unwrap();
    let _endpoint = start(&places, std::slice::from_ref(&root)).await;
    assert_eq!(places.find(&root).len(), 1);
}
