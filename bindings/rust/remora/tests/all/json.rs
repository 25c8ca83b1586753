//! Reads the shared cases: as much of JSON as they use, and a panic for everything else.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(key),
            other => panic!("{other:?} has no members"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    pub fn number(&self) -> f64 {
        match self {
            Json::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }

    /// A number without a fraction, as any integer type.
    pub fn int<T: TryFrom<i64>>(&self) -> T {
        let number = self.number();
        assert_eq!(number.fract(), 0.0, "{number} is no integer");
        #[allow(clippy::cast_possible_truncation)] // checked above; the cases are small
        T::try_from(number as i64).unwrap_or_else(|_| panic!("{number} does not fit"))
    }

    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            other => panic!("{other:?} is no list"),
        }
    }

    pub fn ints(&self) -> Vec<i32> {
        self.list().iter().map(Json::int).collect()
    }
}

impl std::ops::Index<&str> for Json {
    type Output = Json;

    fn index(&self, key: &str) -> &Json {
        self.get(key).unwrap_or_else(|| panic!("no member {key}"))
    }
}

pub fn parse(text: &str) -> Json {
    let mut input = text.chars().peekable();
    let value = value(&mut input);
    skip_white_space(&mut input);
    assert_eq!(input.next(), None, "something follows the value");
    value
}

fn skip_white_space(input: &mut Peekable<Chars>) {
    while input.next_if(|c| c.is_whitespace()).is_some() {}
}

fn expect(input: &mut Peekable<Chars>, wanted: char) {
    skip_white_space(input);
    assert_eq!(input.next(), Some(wanted));
}

fn value(input: &mut Peekable<Chars>) -> Json {
    skip_white_space(input);
    match *input.peek().expect("a value") {
        '{' => Json::Object(
            items(input, '{', '}', |input| {
                let name = text(input);
                expect(input, ':');
                (name, value(input))
            })
            .into_iter()
            .collect(),
        ),
        '[' => Json::List(items(input, '[', ']', value)),
        '"' => Json::Text(text(input)),
        _ => {
            let mut digits = String::new();
            while let Some(c) = input.next_if(|c| "+-.eE".contains(*c) || c.is_ascii_digit()) {
                digits.push(c);
            }
            Json::Number(digits.parse().unwrap_or_else(|_| panic!("{digits:?} is no number")))
        }
    }
}

fn items<T>(
    input: &mut Peekable<Chars>,
    open: char,
    close: char,
    item: impl Fn(&mut Peekable<Chars>) -> T,
) -> Vec<T> {
    let mut found = Vec::new();
    expect(input, open);
    loop {
        skip_white_space(input);
        if input.next_if_eq(&close).is_some() {
            return found;
        }
        if !found.is_empty() {
            expect(input, ',');
            skip_white_space(input);
        }
        found.push(item(input));
    }
}

fn text(input: &mut Peekable<Chars>) -> String {
    let mut text = String::new();
    expect(input, '"');
    loop {
        match input.next().expect("a text ends") {
            '"' => return text,
            '\\' => match input.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(c @ ('"' | '\\' | '/')) => text.push(c),
                other => panic!("escape {other:?} is not known here"),
            },
            c => text.push(c),
        }
    }
}
