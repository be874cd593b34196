//! See `tests/model.rs`; here is only what needs no layers.

use super::TemplateText;

#[test]
fn a_template_keeps_its_source() {
    let text = TemplateText::new("a {{vars.b}}");
    assert_eq!(text.source(), "a {{vars.b}}");
    assert!(text.template().has_expr());
}
