/// A name every template can begin with. An op's inputs never shadow it.
#[derive(Clone, Copy, Debug)]
pub struct RootSpec {
    /// The name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What may follow the dot; empty where names are open (`vars`, `env`).
    pub fields: &'static [RootField],
}

/// A field of a [`RootSpec`].
#[derive(Clone, Copy, Debug)]
pub struct RootField {
    /// The name.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
}

const fn field(name: &'static str, doc: &'static str) -> RootField {
    RootField { name, doc }
}

/// All roots: the one table for evaluation, diagnostics, completion and the reference.
pub const ROOTS: &[RootSpec] = &[
    RootSpec {
        name: "repo",
        doc: "The repository of the workspace.",
        fields: &[
            field(
                "id",
                "The normalised remote, such as `github.com/acme/shop`.",
            ),
            field("slug", "The id with `/` written as `-`."),
            field("name", "The last part of the id."),
            field("dir", "The name of the root folder."),
            field("root", "The absolute path of the work tree."),
            field(
                "remote",
                "The URL of the remote, without user and password.",
            ),
            field("branch", "The current branch; nothing on a detached head."),
            field(
                "worktree",
                "The name of the linked work tree; nothing in the main one.",
            ),
        ],
    },
    RootSpec {
        name: "project",
        doc: "The project, from `[project]`.",
        fields: &[field("name", "The name of the project.")],
    },
    RootSpec {
        name: "vars",
        doc: "Variables of `[vars]` and of this adapter's `vars`.",
        fields: &[],
    },
    RootSpec {
        name: "env",
        doc: "Environment variables.",
        fields: &[],
    },
    RootSpec {
        name: "now",
        doc: "The moment of the call.",
        fields: &[
            field("date", "The local date, such as `2026-11-30`."),
            field("iso", "The time in UTC, such as `2026-11-30T23:03:32Z`."),
        ],
    },
    RootSpec {
        name: "adapter",
        doc: "The adapter itself.",
        fields: &[field("name", "The name of the adapter.")],
    },
];

/// The root of this name.
pub fn root(name: &str) -> Option<&'static RootSpec> {
    ROOTS.iter().find(|root| root.name == name)
}
