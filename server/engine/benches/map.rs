//! An answer of 10 MB: parsing it, and mapping its items to hits. Mapping should cost at most
//! one and a half times what parsing costs.

use std::fmt::Write;
use std::hint::black_box;

use kontext_config::eval::Scope;
use kontext_config::facts::Facts;
use kontext_config::model::{Format, HitMap, Op};
use kontext_engine::answer::{Raw, Reading};

const BYTES: usize = 10_000_000;

fn main() {
    divan::main();
}

fn text() -> String {
    let mut out = String::from("{\"total\": 1, \"results\": [");
    let mut i = 0;
    while out.len() < BYTES {
        let _ = write!(
            out,
            "{}{{\"id\": {}, \"name\": \"Note {i}\", \"excerpt\": \"How the otter of pen {i} is fed: \\\"twice a day\\\", \
             and what to do when it is not there — see the list.\", \"score\": 0.{i}, \"tags\": [\"zoo\", \"food\"], \
             \"created_at\": {}, \"author\": {{\"id\": {i}, \"name\": \"Keeper\"}}}}",
            if i == 0 { "" } else { "," },
            9_007_199_254_740_993_u64 + i,
            1_512_189_030 + i,
        );
        i += 1;
    }
    out.push_str("]}");
    out
}

fn mapped() -> Op {
    let some = |text: &str| Some(text.to_owned());
    Op {
        format: Format::Json,
        items: some("results[*]"),
        map: HitMap {
            title: some("title|name"),
            snippet: some("excerpt"),
            uri: some("=notes://1"),
            ..HitMap::default()
        },
        ..Op::default()
    }
}

#[divan::bench]
fn parse(bencher: divan::Bencher<'_, '_>) {
    let text = text();
    let reading = Reading::new(&mapped());
    bencher.bench(|| reading.payload(Raw::Text(black_box(&text))));
}

fn map(bencher: divan::Bencher<'_, '_>, op: &Op) {
    let text = text();
    let reading = Reading::new(op);
    let Ok(payload) = reading.payload(Raw::Text(&text)) else {
        return;
    };
    let facts = Facts::default();
    let scope = Scope::new(&facts);
    bencher.bench(|| reading.hits(black_box(&payload), &scope));
}

#[divan::bench]
fn map_by_paths(bencher: divan::Bencher<'_, '_>) {
    map(bencher, &mapped());
}

#[divan::bench]
fn map_by_usual_names(bencher: divan::Bencher<'_, '_>) {
    map(bencher, &Op::default());
}

#[divan::bench]
fn map_with_a_template(bencher: divan::Bencher<'_, '_>) {
    let mut op = mapped();
    op.map.uri = Some("tpl:notes://{{id}}".to_owned());
    map(bencher, &op);
}
