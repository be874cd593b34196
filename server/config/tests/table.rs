//! The table of fields and the list of codes hold what they promise.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

use std::collections::BTreeSet;

use kontext_config::codes::{Code, Setting};
use kontext_config::schema::{
    self, FieldSpec, Kind, Members, OPS, OpenKeys, ROOTS, Shape, StringKind, TableSpec, json_schema,
};
use kontext_syntax::toml::{Document, FaultKind, Units};
use serde_json::{Value, json};

/// Every table that can be reached from the top, once.
fn tables() -> Vec<&'static TableSpec> {
    fn walk(
        kind: &'static Kind,
        seen: &mut BTreeSet<&'static str>,
        out: &mut Vec<&'static TableSpec>,
    ) {
        match kind {
            Kind::Table(table) | Kind::ArrayOfTables(table) => visit(table, seen, out),
            Kind::Map(open) => walk(&open.kind, seen, out),
            Kind::Array { item, .. } => walk(item, seen, out),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| walk(kind, seen, out)),
            _ => {}
        }
    }
    fn visit(
        table: &'static TableSpec,
        seen: &mut BTreeSet<&'static str>,
        out: &mut Vec<&'static TableSpec>,
    ) {
        if seen.insert(table.name) {
            out.push(table);
            for field in table.fields {
                walk(&field.kind, seen, out);
            }
            if let Some(open) = table.open {
                walk(&open.kind, seen, out);
            }
        }
    }
    let mut out = Vec::new();
    visit(schema::root(), &mut BTreeSet::new(), &mut out);
    out
}

fn fields() -> impl Iterator<Item = (&'static str, &'static FieldSpec)> {
    tables()
        .into_iter()
        .flat_map(|table| table.fields.iter().map(|field| (table.name, field)))
}

fn toml(text: &str) -> Result<Value, String> {
    let table: ::toml::Table = text.parse().map_err(|error| format!("{error}"))?;
    serde_json::to_value(table).map_err(|error| error.to_string())
}

/// Whether a value is what the kind says, as far as TOML types go.
fn fits(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Bool => value.is_boolean(),
        Kind::False => value == &json!(false),
        Kind::Integer { min } => value.as_i64().is_some_and(|number| number >= *min),
        Kind::Number { min } => value.as_f64().is_some_and(|number| number >= *min),
        Kind::Str(_) => value.is_string(),
        Kind::OneOf { values, .. } => values.iter().any(|one| value == one.value),
        Kind::Array { item, non_empty } => value.as_array().is_some_and(|elements| {
            !(*non_empty && elements.is_empty()) && elements.iter().all(|one| fits(item, one))
        }),
        Kind::Table(table) => fits_table(table, value),
        Kind::Map(open) => fits_open(open, value),
        Kind::ArrayOfTables(table) => value
            .as_array()
            .is_some_and(|elements| elements.iter().all(|one| fits_table(table, one))),
        Kind::Scalar(_) => !value.is_array() && !value.is_object(),
        Kind::Any(_) => true,
        Kind::JsonSchema => value.is_object(),
        Kind::Either(kinds) => kinds.iter().any(|kind| fits(kind, value)),
    }
}

fn fits_table(table: &TableSpec, value: &Value) -> bool {
    value.as_object().is_some_and(|members| {
        members.iter().all(|(key, value)| {
            table
                .child(key)
                .is_some_and(|found| fits(found.kind(), value))
        })
    })
}

fn fits_open(open: &OpenKeys, value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|members| members.values().all(|value| fits(&open.kind, value)))
}

#[test]
fn every_field_is_documented_and_named_once() {
    for table in tables() {
        assert!(
            !table.doc.as_str().is_empty() && !table.section.is_empty(),
            "{}",
            table.name
        );
        let mut names = BTreeSet::new();
        for field in table.fields {
            assert!(
                names.insert(field.name),
                "{}.{} twice",
                table.name,
                field.name
            );
            assert!(
                field.doc.as_str().ends_with('.'),
                "{}.{}",
                table.name,
                field.name
            );
            assert!(
                field.drivers.iter().next().is_some(),
                "{}.{}",
                table.name,
                field.name
            );
            let real = table
                .fields
                .iter()
                .find(|other| field.also.contains(&other.name));
            assert!(
                real.is_none_or(|other| other.name == field.name),
                "{}.{}: a field is not another name",
                table.name,
                field.name
            );
        }
    }
}

#[test]
fn every_example_is_toml_that_shows_its_own_field() {
    for (table, field) in fields() {
        let value =
            toml(field.example).unwrap_or_else(|error| panic!("{table}.{}: {error}", field.name));
        let own = value
            .get(field.name)
            .unwrap_or_else(|| panic!("{table}.{}: shows another", field.name));
        assert!(
            fits(&field.kind, own),
            "{table}.{}: {own} is not {}",
            field.name,
            field.kind
        );
    }
}

#[test]
fn every_default_is_a_value_of_its_field() {
    for (table, field) in fields() {
        let Some(default) = field.default else {
            continue;
        };
        let value = toml(&format!("x = {default}")).unwrap_or_else(|error| panic!("{error}"));
        let own = value.get("x").unwrap_or(&Value::Null);
        assert!(fits(&field.kind, own), "{table}.{}: {own}", field.name);
        let json: Value = serde_json::from_str(default).unwrap_or_default();
        assert_eq!(&json, own, "{table}.{}: not the same in JSON", field.name);
    }
}

#[test]
fn the_templates_are_those_of_the_specification() {
    let mut templates: Vec<String> = fields()
        .filter(|(_, field)| {
            field
                .kind
                .string_kind()
                .is_some_and(|kind| kind.has_templates())
        })
        .map(|(table, field)| format!("{table}.{}", field.name))
        .collect();
    templates.sort();
    insta::assert_snapshot!(templates.join("\n"), @"
    adapter.base_url
    adapter.command
    adapter.cwd
    adapter.env
    adapter.headers
    adapter.url
    adapter.vars
    file.vars
    map.date
    map.kind
    map.score
    map.snippet
    map.title
    map.uri
    op.args
    op.body
    op.command
    op.cwd
    op.env
    op.headers
    op.path
    op.query
    op.stdin
    op.url
    when.exists
    ");
}

#[test]
fn the_drivers_of_each_field_are_those_of_the_specification() {
    let mut lines: Vec<String> = fields()
        .filter(|(_, field)| !field.drivers.is_all())
        .map(|(table, field)| format!("{table}.{}: {}", field.name, field.drivers))
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @"
    adapter.base_url: http
    adapter.command: mcp, command
    adapter.cwd: mcp, command
    adapter.env: mcp, command
    adapter.expose: mcp
    adapter.headers: mcp, http
    adapter.prefix: mcp
    adapter.url: mcp, http
    op.args: mcp
    op.body: http
    op.command: command
    op.cwd: command
    op.env: command
    op.headers: http
    op.method: http
    op.output_file: command
    op.path: http
    op.query: http
    op.stdin: command
    op.tool: mcp
    op.url: http
    ");
}

#[test]
fn well_known_ops_are_the_same_in_both_places() {
    let described: Vec<&str> = OPS.iter().map(|op| op.name).collect();
    let offered: Vec<&str> = schema::lookup(&["adapters", "x", "ops"])
        .and_then(|found| found.kind().open_keys())
        .map(|open| open.known.iter().map(|known| known.name).collect())
        .unwrap_or_default();
    assert_eq!(described, offered);
}

#[test]
fn inputs_never_bear_the_name_of_a_root() {
    for op in OPS {
        for input in op.inputs {
            let first = input.name.split('.').next().unwrap_or_default();
            assert!(
                schema::root_of_template(first).is_none(),
                "{} of {}",
                input.name,
                op.name
            );
        }
    }
    for root in ROOTS {
        assert!(!root.doc.as_str().is_empty());
        if let Members::Fixed(members) = root.members {
            assert!(members.iter().all(|member| !member.doc.as_str().is_empty()));
        }
    }
}

#[test]
fn argument_vectors_are_marked_as_such() {
    for path in [
        &["adapters", "x", "command"][..],
        &["adapters", "x", "ops", "search", "command"],
    ] {
        let kind = schema::lookup(path).and_then(|found| found.kind().string_kind());
        assert!(matches!(
            kind,
            Some(StringKind::Template {
                shape: Shape::Argument,
                ..
            })
        ));
    }
}

#[expect(
    clippy::panic,
    reason = "a helper of tests; a failure here is the test's failure"
)]
fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&json_schema()).unwrap_or_else(|error| panic!("{error}"))
}

fn errors(validator: &jsonschema::Validator, text: &str) -> Vec<String> {
    match toml(text) {
        Ok(value) => validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
        Err(error) => vec![error],
    }
}

#[test]
fn the_json_schema_is_one() {
    let schema = json_schema();
    assert!(jsonschema::meta::is_valid(&schema));
    // No definition is left as the placeholder it was while its table was read.
    assert!(
        schema["$defs"]
            .as_object()
            .is_some_and(|defs| defs.values().all(Value::is_object))
    );
}

#[test]
fn the_json_schema_accepts_what_is_right() {
    let validator = validator();
    for code in Code::ALL {
        assert_eq!(
            errors(&validator, code.spec().good),
            Vec::<String>::new(),
            "{code}"
        );
    }
    for text in [
        "adapters.a.expose = true",
        "adapters.a.expose = [\"x\"]",
        "adapters.a.env = { A = \"\", B = false }",
        "adapters.a.when = { env = [\"A\", \"B\"], repo = \"x\" }",
        "adapters.a.ops.search = { method = \"post\", query = { n = 3 }, body = [1, { a = true }] }",
        "adapters.a.ops.search.args = { \"*\" = true, filter = { kinds = [\"a\"] } }",
        "adapters.a.tools = [{ name = \"n\", op = { tool = \"t\" }, params = { type = \"object\" } }]",
        "[index]\nanything = [1, 2]",
        "[adapters.hub.ops.read]\ntool = \"get\"\nowns = [\"hub://\"]\n\n\
         [adapters.hub]\ndriver = \"mcp\"\ncommand = [\"hub\"]\nwhen.env = \"T\"\nwhen.file = \".hub\"",
        "[of_somebody_else]\nx = 1",
    ] {
        assert_eq!(errors(&validator, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_json_schema_refuses_what_it_can_know() {
    let validator = validator();
    for code in [
        Code::UnknownKey,
        Code::DottedName,
        Code::WrongType,
        Code::CommandString,
        Code::InvalidValue,
        Code::OutOfRange,
        Code::EmptyArray,
        Code::MissingField,
    ] {
        assert_ne!(
            errors(&validator, code.spec().bad),
            Vec::<String>::new(),
            "{code}"
        );
    }
}

#[test]
fn examples_of_codes_are_toml_unless_that_is_the_point() {
    for code in Code::ALL {
        let spec = code.spec();
        assert_eq!(toml(spec.good).err(), None, "{code}");
        if let Setting::SharedOver(user) = spec.setting {
            assert_eq!(toml(user).err(), None, "{code}");
        }
        let broken = matches!(
            code,
            Code::TomlSyntax
                | Code::InvalidEscape
                | Code::BomInside
                | Code::DuplicateKey
                | Code::TableConflict
                | Code::TooDeep
                | Code::JsonPasted
        );
        assert_eq!(toml(spec.bad).is_err(), broken, "{code}");
    }
}

/// The kinds of faults the parser finds in a text.
fn faults(text: &str) -> Vec<FaultKind> {
    let document = Document::parse(text);
    let units = Units::of(&document, &["adapters"], None);
    document
        .faults()
        .chain(units.iter().flat_map(|unit| &unit.faults))
        .map(|fault| fault.kind)
        .collect()
}

#[test]
fn examples_of_syntax_codes_show_one_fault_and_the_others_none() {
    for code in Code::ALL {
        let wanted = match code {
            Code::TomlSyntax => vec![FaultKind::Syntax],
            Code::InvalidEscape => vec![FaultKind::InvalidEscape],
            Code::BomInside => vec![FaultKind::BomInside],
            Code::DuplicateKey => vec![FaultKind::DuplicateKey],
            Code::TableConflict => vec![FaultKind::TableConflict],
            Code::TooDeep => vec![FaultKind::TooDeep],
            Code::JsonPasted => vec![FaultKind::Json],
            _ => vec![],
        };
        assert_eq!(faults(code.spec().bad), wanted, "{code}");
        assert_eq!(faults(code.spec().good), vec![], "{code}");
    }
}
