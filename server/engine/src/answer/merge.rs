//! One order for the hits of several sources.

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::Hit;

/// What keeps the first ranks of a source from outweighing all others.
const RANK_OFFSET: f64 = 8.0;

/// How many letters and digits of title and snippet tell hits apart.
const TOLD_APART_BY: usize = 90;

/// The hits of one source, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceHits {
    /// The adapter's name.
    pub source: String,
    /// Its place in the configuration, which decides between equal scores.
    pub position: usize,
    /// Its weight; what is not a number of at least 0 counts as 0.
    pub weight: f64,
    /// In the source's own order.
    pub hits: Vec<Hit>,
}

/// A hit among those of several sources.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergedHit {
    /// The hit; its own score is replaced by that of the merge.
    #[serde(flatten)]
    pub hit: Hit,
    /// The adapter it is from.
    pub source: String,
    /// weight / (8 + rank), rank from 1. Higher is better.
    pub score: f64,
}

/// The best `limit` hits of all sources: by score, equal ones in the order of the configuration,
/// never of arrival. Of those that say the same (same URI, or same beginning of title and snippet)
/// the best stays.
pub fn merge(sources: Vec<SourceHits>, limit: usize) -> Vec<MergedHit> {
    let mut ranked = Vec::new();
    for source in sources {
        let weight = Some(source.weight).filter(|it| it.is_finite() && *it > 0.0);
        let weight = weight.unwrap_or(0.0);
        let mut rank = 0.0;
        for mut hit in source.hits {
            rank += 1.0;
            hit.score = None;
            let score = weight / (RANK_OFFSET + rank);
            let merged = MergedHit {
                hit,
                source: source.source.clone(),
                score,
            };
            ranked.push((source.position, merged));
        }
    }
    // Stable: hits of one source stay in its order.
    ranked.sort_by(|(a_at, a), (b_at, b)| b.score.total_cmp(&a.score).then(a_at.cmp(b_at)));
    let mut uris = FxHashSet::default();
    let mut said = FxHashSet::default();
    let fresh = ranked
        .into_iter()
        .map(|(_, merged)| merged)
        .filter(|merged| {
            let words = words_of(&merged.hit);
            let known = merged
                .hit
                .uri
                .as_ref()
                .is_some_and(|uri| uris.contains(uri))
                || (!words.is_empty() && said.contains(&words));
            if !known {
                uris.extend(merged.hit.uri.clone());
                said.insert(words);
            }
            !known
        });
    fresh.take(limit).collect()
}

/// The first letters and digits of title and snippet, without case.
fn words_of(hit: &Hit) -> String {
    let snippet = hit.snippet.as_deref().unwrap_or_default();
    let text = hit.title.chars().chain(snippet.chars());
    text.filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(TOLD_APART_BY)
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        reason = "a test fails by panicking"
    )]

    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn sources_are_merged_by_weight_and_rank() {
        let hit = |title: &str, uri: Option<&str>| Hit {
            title: title.to_owned(),
            uri: uri.map(str::to_owned),
            score: Some(99.0),
            ..Hit::default()
        };
        let source = |source: &str, position, weight, hits| SourceHits {
            source: source.to_owned(),
            position,
            weight,
            hits,
        };
        let sources = vec![
            source(
                "late",
                2,
                0.9,
                vec![hit("Bear", Some("z://3")), hit("Élan", None)],
            ),
            source(
                "first",
                0,
                0.9,
                vec![
                    hit("Otter", Some("z://1")),
                    hit("Panda", Some("z://2")),
                    hit("…", None),
                    hit("!", None),
                ],
            ),
            source(
                "best",
                1,
                1.0,
                vec![hit("Other words", Some("z://2")), hit("é-LAN", None)],
            ),
            source("odd", 3, f64::NAN, vec![hit("Zebra", None)]),
        ];
        let merged = merge(sources.clone(), 100);
        let shown: Vec<String> = merged
            .iter()
            .map(|it| serde_json::to_string(it).unwrap())
            .collect();
        assert_snapshot!(shown.join("\n"), @r#"
    {"title":"Other words","uri":"z://2","source":"best","score":0.1111111111111111}
    {"title":"Otter","uri":"z://1","source":"first","score":0.1}
    {"title":"é-LAN","source":"best","score":0.1}
    {"title":"Bear","uri":"z://3","source":"late","score":0.1}
    {"title":"…","source":"first","score":0.08181818181818182}
    {"title":"!","source":"first","score":0.075}
    {"title":"Zebra","source":"odd","score":0.0}
        "#);
        for limit in 0..8 {
            let mut arrived = sources.clone();
            arrived.rotate_left(limit % 4);
            assert_eq!(merge(arrived, limit), merged[..limit.min(merged.len())]);
        }
    }
}
