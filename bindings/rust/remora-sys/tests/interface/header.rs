//! Reads `remora.h`, which is written so that a few lines suffice, and turns C types into Rust's.

/// A function or one of its arguments: name and type in Rust's spelling.
pub type Named = (String, String);

pub struct Function {
    pub name: String,
    pub arguments: Vec<Named>,
    pub result: String,
}

/// Without comments and preprocessor lines.
pub fn code(header: &str) -> String {
    let mut text = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").expect("a comment ends").1;
    }
    text.push_str(rest);
    text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n")
}

pub fn functions(code: &str) -> Vec<Function> {
    code.split("REMORA_API").skip(1).map(function).collect()
}

pub fn struct_names(code: &str) -> Vec<String> {
    let words = code.split("typedef struct ").skip(1).map(|text| text.split_whitespace());
    let pairs = words.filter_map(|mut words| Some((words.next()?, words.next()?)));
    pairs.filter(|(_, second)| *second == "{").map(|(name, _)| name.to_owned()).collect()
}

fn function(text: &str) -> Function {
    let (declaration, _) = text.split_once(';').expect("a declaration ends");
    let (head, arguments) = declaration.split_once('(').expect("arguments");
    let (result, name) = head.split_once("REMORA_CALL").expect("a calling convention");
    let arguments = arguments.trim_end().trim_end_matches(')');
    let named = arguments.split(',').map(str::trim).filter(|text| *text != "void");
    Function {
        name: name.trim().to_owned(),
        arguments: named.map(argument).collect(),
        result: if result.trim() == "void" { String::new() } else { rust_type(result) },
    }
}

fn argument(text: &str) -> Named {
    let start = text.rfind([' ', '*', '\n']).expect("a type before the name") + 1;
    let name = if &text[start..] == "fn" { "callback" } else { &text[start..] };
    (name.to_owned(), rust_type(&text[..start]))
}

/// `const remora_model *` to `*const remora_model`.
pub fn rust_type(c: &str) -> String {
    let mut result = String::new();
    let mut constant = false;
    for word in c.replace('*', " * ").split_whitespace() {
        match word {
            "const" => constant = true,
            "*" => {
                let pointer = if std::mem::take(&mut constant) { "*const" } else { "*mut" };
                result = format!("{pointer} {result}");
            }
            base => result = rust_name(base).to_owned(),
        }
    }
    result
}

fn rust_name(c: &str) -> &str {
    match c {
        "int16_t" => "i16",
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "int64_t" => "i64",
        "uint64_t" => "u64",
        "size_t" => "usize",
        "float" => "f32",
        "char" => "c_char",
        "void" => "c_void",
        other => other,
    }
}
