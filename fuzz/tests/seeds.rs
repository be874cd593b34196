//! Every target over its seeds, without the fuzzer; and over mutations of them, where asked for.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("seeds")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{folder:?} is empty");
    paths
        .iter()
        .map(|path| fs::read(path).expect("a seed can be read"))
        .collect()
}

#[test]
fn seeds_hold() {
    for (name, target) in kontext_fuzz::TARGETS {
        for seed in seeds(name) {
            target(&seed);
        }
    }
}

/// For machines without the fuzzer: `FUZZ_SECONDS=60 cargo test --release -- --ignored mutations`.
#[test]
#[ignore = "takes as long as it is told to"]
fn mutations_hold() {
    let seconds = std::env::var("FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(10);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (name, target) in kontext_fuzz::TARGETS {
        let seeds = seeds(name);
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut runs = 0u64;
        while Instant::now() < end {
            let mut data = seeds[random.below(seeds.len())].clone();
            for _ in 0..=random.below(6) {
                random.mutate(&mut data, &seeds);
            }
            target(&data);
            runs += 1;
        }
        println!("{name}: {runs} runs");
    }
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn mutate(&mut self, data: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        const SIGNS: &[u8] = b"[]{}\"'=.,#\n\r\t \\|:\0-0aA\xff\xef";
        let at = self.below(data.len() + 1);
        match self.below(5) {
            0 => data.insert(at, SIGNS[self.below(SIGNS.len())]),
            1 if at < data.len() => data[at] = self.next() as u8,
            2 => {
                let end = (at + 1 + self.below(16)).min(data.len());
                data.drain(at..end);
            }
            3 => {
                let other = &seeds[self.below(seeds.len())];
                let from = self.below(other.len() + 1);
                let to = (from + self.below(48)).min(other.len());
                data.splice(at..at, other[from..to].iter().copied());
            }
            _ => data.truncate(at.max(data.len() / 2)),
        }
    }
}
