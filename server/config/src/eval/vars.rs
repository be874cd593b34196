use indexmap::IndexMap;
use kontext_syntax::template::Template;
use rustc_hash::FxHashSet;

use super::value::name_of;

/// The variables of one `vars` table: templates, parsed once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vars {
    by_name: IndexMap<String, (String, Template)>,
}

impl Vars {
    /// The source and the template of a variable.
    pub fn get(&self, name: &str) -> Option<(&str, &Template)> {
        self.by_name
            .get(name)
            .map(|(source, template)| (source.as_str(), template))
    }

    /// As [`Self::get`], with the name as it is kept.
    pub(super) fn entry(&self, name: &str) -> Option<(&str, &str, &Template)> {
        let (name, (source, template)) = self.by_name.get_key_value(name)?;
        Some((name, source, template))
    }

    /// The names in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// The variables that `name` reads, in order, with repetitions.
    fn reads(&self, name: &str) -> Vec<&str> {
        let Some((_, template)) = self.get(name) else {
            return Vec::new();
        };
        template
            .exprs()
            .filter_map(|expr| expr.path().filter(|path| path.key(0) == Some("vars")))
            .filter_map(|path| {
                let read = name_of(path.segments.get(1)?);
                Some(self.by_name.get_key_value(read.as_ref())?.0.as_str())
            })
            .collect()
    }
}

impl FromIterator<(String, String)> for Vars {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        let parsed = pairs.into_iter().map(|(name, source)| {
            let template = Template::parse(&source);
            (name, (source, template))
        });
        Self {
            by_name: parsed.collect(),
        }
    }
}

/// The cycles among the variables of one table, each from its first variable in the order of the
/// file, without the repetition at the end: `a` → `b` → `a` is `[a, b]`. A variable on several
/// cycles is named in one of them. A variable of an adapter that names itself means the global one
/// of that name, which `outer` holds; it is a cycle only where there is none.
pub fn cycles(vars: &Vars, outer: Option<&Vars>) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut done = FxHashSet::default();
    for start in vars.names() {
        // Depth-first with an explicit stack: a chain of any length does not recurse.
        let mut trail: Vec<(&str, std::vec::IntoIter<&str>)> = Vec::new();
        let mut on_trail = FxHashSet::default();
        if !done.contains(start) {
            trail.push((start, vars.reads(start).into_iter()));
            on_trail.insert(start);
        }
        while let Some((name, reads)) = trail.last_mut() {
            let name = *name;
            let Some(next) = reads.next() else {
                done.insert(name);
                on_trail.remove(name);
                trail.pop();
                continue;
            };
            if next == name && outer.is_some_and(|outer| outer.get(name).is_some()) {
                continue;
            }
            if on_trail.contains(next)
                && let Some(at) = trail.iter().position(|(on, _)| *on == next)
            {
                let cycle = trail
                    .iter()
                    .skip(at)
                    .map(|(on, _)| (*on).to_owned())
                    .collect();
                if !found.contains(&cycle) {
                    found.push(cycle);
                }
            } else if !done.contains(next) {
                on_trail.insert(next);
                trail.push((next, vars.reads(next).into_iter()));
            }
        }
    }
    found
}
