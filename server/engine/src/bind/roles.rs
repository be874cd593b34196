//! What an op has to give, and the names tools take it under.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// What a parameter of a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// What is looked for.
    Query,
    /// The path, commit or topic a history is asked for.
    Target,
    /// The document to read.
    Uri,
    /// The text to keep.
    Content,
    /// The heading of a text to keep.
    Title,
    /// Its keywords.
    Tags,
    /// How many hits are wanted.
    Limit,
    /// The root of the repository.
    Project,
    /// What a language model is asked.
    Prompt,
}

/// A role and how it is filled.
#[derive(Clone, Copy, Debug)]
pub struct RoleSpec {
    /// The role.
    pub role: Role,
    /// What it is called in messages and hints.
    pub name: &'static str,
    /// Names of parameters, tried in this order; compared as [`same_name`] does.
    pub names: &'static [&'static str],
    /// The op's inputs that give its value; the first that is there. Empty for the project, which
    /// is the root of the repository.
    pub inputs: &'static [&'static str],
}

/// How many roles there are.
pub(super) const COUNT: usize = 9;

/// All roles, in the order of [`Role`].
pub static ROLES: [RoleSpec; COUNT] = [
    RoleSpec {
        role: Role::Query,
        name: "query",
        names: &[
            "query",
            "q",
            "search",
            "search_query",
            "text",
            "pattern",
            "substring_pattern",
            "keyword",
            "keywords",
            "term",
            "question",
            "topic",
            "name_path_pattern",
            "name_path",
            "symbol",
            "symbol_name",
            "name",
            "input",
            "prompt",
        ],
        inputs: &["query"],
    },
    RoleSpec {
        role: Role::Target,
        name: "target",
        names: &[
            "target",
            "path",
            "file",
            "file_path",
            "filepath",
            "relative_path",
            "commit",
            "query",
            "q",
            "text",
        ],
        inputs: &["target", "query"],
    },
    RoleSpec {
        role: Role::Uri,
        name: "uri",
        names: &["uri", "url", "path", "id", "resource", "name"],
        inputs: &["uri"],
    },
    RoleSpec {
        role: Role::Content,
        name: "content",
        names: &[
            "content", "text", "memory", "body", "markdown", "message", "data", "note",
        ],
        inputs: &["content", "markdown", "body"],
    },
    RoleSpec {
        role: Role::Title,
        name: "title",
        names: &["title", "subject", "name", "key"],
        inputs: &["title"],
    },
    RoleSpec {
        role: Role::Tags,
        name: "tags",
        names: &["tags", "labels", "categories"],
        inputs: &["tags"],
    },
    RoleSpec {
        role: Role::Limit,
        name: "limit",
        names: &[
            "limit",
            "max_results",
            "top_k",
            "k",
            "n",
            "count",
            "max",
            "num_results",
            "size",
            "maxFiles",
        ],
        inputs: &["limit"],
    },
    RoleSpec {
        role: Role::Project,
        name: "project",
        names: &[
            "projectPath",
            "project_path",
            "project",
            "repo",
            "repository",
            "cwd",
            "root",
            "workspace",
            "directory",
        ],
        inputs: &[],
    },
    RoleSpec {
        role: Role::Prompt,
        name: "prompt",
        names: &["prompt", "input", "message", "text", "query"],
        inputs: &["prompt"],
    },
];

impl Role {
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Its entry in [`ROLES`].
    pub fn spec(self) -> &'static RoleSpec {
        // The roles are listed in the order of the enum (a test holds it).
        ROLES.get(self.index()).unwrap_or(&ROLES[0])
    }
}

/// The roles an op fills, the primary one first. `delivers_event`: it is called for an event,
/// whose text it is to keep.
pub fn roles_of(op: &str, delivers_event: bool) -> &'static [Role] {
    match op {
        "store" => &[
            Role::Content,
            Role::Title,
            Role::Tags,
            Role::Limit,
            Role::Project,
        ],
        _ if delivers_event => &[Role::Content, Role::Limit, Role::Project],
        "history" => &[Role::Target, Role::Limit, Role::Project],
        "read" => &[Role::Uri, Role::Limit, Role::Project],
        "llm" => &[Role::Prompt, Role::Limit, Role::Project],
        _ => &[Role::Query, Role::Limit, Role::Project],
    }
}

/// A name without what does not count in a comparison: case, `_` and `-`.
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether two names of parameters are the same, ignoring case, `_` and `-`:
/// `maxResults` is `max_results`.
pub fn same_name(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

/// The places of a folded name in the lists of names: role and rank.
type Places = FxHashMap<String, Vec<(Role, usize)>>;

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let mut places = Places::default();
    for spec in &ROLES {
        for (rank, name) in spec.names.iter().enumerate() {
            let of_name = places.entry(folded(name)).or_default();
            // `projectPath` and `project_path` are one name; the first place counts.
            if !of_name.iter().any(|(role, _)| *role == spec.role) {
                of_name.push((spec.role, rank));
            }
        }
    }
    places
});

/// The roles a parameter of this folded name can fill, each with the rank of the name.
pub(super) fn places(folded: &str) -> &'static [(Role, usize)] {
    PLACES.get(folded).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (at, spec) in ROLES.iter().enumerate() {
            assert_eq!(spec.role.index(), at);
            assert_eq!(spec.role.spec().name, spec.name);
        }
    }

    #[test]
    fn names_are_compared_without_what_does_not_count() {
        assert!(same_name("maxResults", "max_results"));
        assert!(same_name("Max-Results", "maxResults"));
        assert!(same_name("QUERY", "query"));
        assert!(!same_name("query", "querys"));
        assert_eq!(places("projectpath"), [(Role::Project, 0)]);
        assert_eq!(places("maxfiles"), [(Role::Limit, 9)]);
        assert!(places("nothing").is_empty());
    }
}
