//! Checking a long configuration: as a whole, and again after one keystroke.

use std::fmt::Write;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::diagnostics::{Checked, Severities, Subject};

const ADAPTERS: usize = 2240;

fn main() {
    divan::main();
}

fn text() -> String {
    let mut out = String::from("[project]\nname = \"bench\"\n\n");
    for i in 0..ADAPTERS {
        let _ = match i % 3 {
            0 => write!(
                out,
                "[adapters.a{i}]\ndriver = \"http\"\ndescription = \"Adapter {i}\"\ntimeout_ms = 4000\n\
                 when = {{ env = \"HOME\", file = \"docs/{i}.md\" }}\nbase_url = \"{{{{env.SVC_{i}|default:http://127.0.0.1:{}}}}}\"\n\
                 headers = {{ X-Trace = \"{{{{repo.slug}}}}\" }}\n\n[adapters.a{i}.ops.search]\npath = \"/v1/search\"\n\
                 query = {{ q = \"{{{{query}}}}\", n = \"{{{{limit}}}}\" }}\nitems = \"results[*]\"\n\
                 map = {{ title = \"name\", snippet = \"excerpt|body\", uri = \"tpl:a{i}://{{{{id}}}}\" }}\n\n\
                 [adapters.a{i}.ops.store]\nmethod = \"PUT\"\npath = \"/v1/{{{{repo.slug}}}}/{{{{id}}}}\"\n\
                 body = {{ title = \"{{{{title}}}}\", text = \"{{{{markdown}}}}\" }}\n\n\
                 [[adapters.a{i}.on]]\nevent = \"sync\"\nop = \"store\"\nkinds = [\"decision\"]\n\n",
                8000 + i
            ),
            1 => write!(
                out,
                "[adapters.a{i}]\ndriver = \"mcp\"\ndescription = \"Adapter {i}\"\nweight = 0.5\n\
                 command = [\"srv-{i}\", \"--stdio\", \"{{{{repo.root}}}}\"]\nexpose = [\"find\", \"get\"]\n\n\
                 [adapters.a{i}.ops.search]\ntool = \"find\"\nargs = {{ query = \"{{{{query}}}}\", limit = \"{{{{limit}}}}\" }}\n\n\
                 [adapters.a{i}.ops.read]\ntool = \"get\"\nargs = {{ id = \"{{{{uri|after:a{i}://}}}}\" }}\nowns = [\"a{i}://\"]\n\n"
            ),
            _ => write!(
                out,
                "[adapters.a{i}]\ndriver = \"command\"\ndescription = \"Adapter {i}\"\ncwd = \"{{{{repo.root}}}}\"\n\n\
                 [adapters.a{i}.ops.search]\ncommand = [\"rg\", \"--json\", \"--\", \"{{{{query}}}}\"]\nformat = \"jsonl\"\n\
                 where = {{ type = \"match\" }}\nmap = {{ title = \"data.path.text\", kind = \"=match\" }}\n\n\
                 [[adapters.a{i}.tools]]\nname = \"a{i}_grep\"\nparams = {{ query = \"string!\", limit = \"integer\" }}\nop = \"search\"\n\n"
            ),
        };
    }
    out
}

fn stack(source: &Arc<Source>) -> Stack {
    let layer = LayerSource {
        kind: LayerKind::User,
        path: PathBuf::from("config.toml"),
        source: Some(Arc::clone(source)),
        fault: None,
    };
    Stack {
        layers: vec![layer],
        trust: Trust::Untrusted,
    }
}

fn check(source: &Arc<Source>, before: Option<&Checked>) -> Checked {
    let stack = stack(source);
    let subject = Subject {
        source,
        layer: Some((LayerKind::User, &stack)),
        severities: &Severities::new(),
        fault: None,
    };
    Checked::of(&subject, before)
}

/// One character typed into a value in the middle.
fn typed(source: &Source) -> Source {
    let mut text = source.document.text().to_string();
    let middle = text
        .find("[adapters.a1120]")
        .and_then(|at| Some(at + text.get(at..)?.find("Adapter ")?));
    let at = middle.unwrap_or(0);
    text.insert(at, 'x');
    let at = u32::try_from(at).unwrap_or(0);
    source.edited(text, at, at, at + 1)
}

#[divan::bench]
fn parse(bencher: divan::Bencher<'_, '_>) {
    let text = text();
    bencher.bench(|| Source::parse(black_box(&*text)));
}

#[divan::bench]
fn edit(bencher: divan::Bencher<'_, '_>) {
    let source = Source::parse(text());
    bencher.bench(|| typed(black_box(&source)));
}

#[divan::bench]
fn check_all(bencher: divan::Bencher<'_, '_>) {
    let source = Arc::new(Source::parse(text()));
    bencher.bench(|| check(black_box(&source), None));
}

#[divan::bench]
fn check_after_a_keystroke(bencher: divan::Bencher<'_, '_>) {
    let source = Arc::new(Source::parse(text()));
    let first = check(&source, None);
    let next = Arc::new(typed(&source));
    bencher.bench(|| check(black_box(&next), Some(&first)));
}
