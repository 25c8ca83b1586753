//! Every function of the header is declared, with its argument names and types, and nothing else is.

use crate::header;

fn without_white_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(",)", ")")
}

fn declarations() -> Vec<String> {
    let source = include_str!("../../src/functions.rs");
    let body = source.split_once("extern \"C\" {").expect("a block of declarations").1;
    let code = body.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let declarations = code.split(';').filter(|text| text.contains("pub fn"));
    declarations.map(without_white_space).collect()
}

#[test]
fn functions_are_those_of_the_header_in_its_order() {
    let expected: Vec<String> = header::functions(&header::code(&crate::header_text()))
        .iter()
        .map(|function| {
            let arguments: Vec<String> =
                function.arguments.iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
            let arrow = if function.result.is_empty() { "" } else { " -> " };
            without_white_space(&format!(
                "pub fn {}({}){arrow}{}",
                function.name,
                arguments.join(", "),
                function.result
            ))
        })
        .collect();
    assert!(expected.len() >= 62, "{} functions were read", expected.len());
    assert_eq!(declarations(), expected);
}

#[test]
fn c_types_are_read_as_they_are() {
    assert_eq!(header::rust_type("remora_voice **"), "*mut *mut remora_voice");
    assert_eq!(
        header::rust_type("const remora_voice *const *"),
        "*const *const remora_voice",
        "pointers to constant pointers"
    );
    assert_eq!(header::rust_type("const char *"), "*const c_char");
}

#[test]
fn the_abi_number_is_the_headers() {
    let header = crate::header_text();
    let line = header.lines().find(|line| line.starts_with("#define REMORA_ABI_VERSION"));
    let number = line.and_then(|line| line.split_whitespace().nth(2)).expect("a number");
    assert_eq!(number.parse(), Ok(remora_sys::REMORA_ABI_VERSION));
}
