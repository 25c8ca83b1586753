//! The cases that every binding must reproduce: `tests/bindings/cases.json`.

use remora::{ErrorCode, Model, ModelOptions, Prompt, Result, Source, Voice};

use crate::json::Json;
use crate::support::{all_pcm, cases, golden, greedy, greedy_session, tiny};

const ALLOW_CONTROL: u32 = 2;

fn model_of(name: &Json) -> &'static Model {
    match name.text() {
        "golden" => golden(),
        "tiny" => tiny(),
        other => panic!("no model {other}"),
    }
}

fn rms(pcm: &[f32]) -> f64 {
    let squares: f64 = pcm.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    (squares / pcm.len() as f64).sqrt()
}

#[test]
#[allow(non_snake_case)] // the number of the report that it answers
fn RB_51_speech_cases_are_reproduced() {
    let cases = cases();
    let tolerance = cases["rms_tolerance"].number();
    for case in cases["speech"].list() {
        let name = case["name"].text();
        let model = model_of(&case["model"]);
        let (text, flags) = (case["text"].text(), case["flags"].int::<u32>());
        let ids = model.tokenize(text, flags & ALLOW_CONTROL != 0).expect(name);
        assert_eq!(ids, case["ids"].ints(), "{name}");
        let prompt = Prompt::new(text).with_flags(flags);
        let tokens = model.prompt_tokens(&prompt).expect(name);
        assert_eq!(tokens.len(), case["prompt_elements"].int::<usize>(), "{name}");

        let mut session = greedy_session(model, case["max_frames"].int());
        session.prefill(&prompt).expect(name);
        let codes: Vec<Vec<i32>> = session.frames().map(|frame| frame.expect(name).codes).collect();
        let expected: Vec<Vec<i32>> = case["codes"].list().iter().map(Json::ints).collect();
        assert_eq!(codes, expected, "{name}");

        let pcm = all_pcm(&mut session);
        assert_eq!(pcm.len(), case["samples"].int::<usize>(), "{name}");
        let (found, expected) = (rms(&pcm), case["rms"].number());
        assert!((found - expected).abs() <= tolerance * expected, "{name}: rms {found}");

        // The same tokens as a matrix give the same speech.
        session.prefill(Prompt::from_tokens(&tokens)).expect(name);
        let again: Vec<Vec<i32>> = session.frames().map(|frame| frame.expect(name).codes).collect();
        assert_eq!(again, codes, "{name}");
    }
}

/// Does what an error case names.
fn provoke(model: &Model, case: &Json) -> Result<()> {
    let frames = case.get("max_frames").map_or(4, Json::int);
    let mut session = greedy_session(model, frames);
    match case["call"].text() {
        "open_model" => Model::open(case["path"].text()).map(drop),
        "estimate" => Model::estimate(&mut Source::new()?, &ModelOptions::new()?).map(drop),
        "decode" => model.decode(&case["codes"].ints()).map(drop),
        "voice" => {
            Voice::from_codes(model, &case["codes"].ints(), case["transcript"].text()).map(drop)
        }
        "load_voice" => {
            let bytes: Vec<u8> = case["bytes"].list().iter().map(Json::int).collect();
            Voice::load(model, &bytes).map(drop)
        }
        "step" => session.step(&mut [0; 16]).map(drop),
        "logits" => session.logits(case["codebook"].int()).map(drop),
        "prefill" => session.prefill(case["prompt"].text()),
        "cancelled_prefill" => {
            session.cancel();
            session.prefill(case["prompt"].text())
        }
        "set_sampling" => {
            let mut sampling = greedy(4);
            let value = &case["value"];
            match case["field"].text() {
                "top_k" => sampling.top_k = value.int(),
                #[allow(clippy::cast_possible_truncation)] // a float in C
                "top_p" => sampling.top_p = value.number() as f32,
                other => panic!("no field {other}"),
            }
            session.set_sampling(&sampling)
        }
        other => panic!("no call {other}"),
    }
}

#[test]
#[allow(non_snake_case)]
fn RB_51_a_megabyte_of_text_has_the_same_ids() {
    let cases = cases();
    let case = &cases["long_text"];
    let text = case["unit"].text().repeat(case["repeats"].int());
    assert!(text.len() > 1_000_000);
    let ids = model_of(&case["model"]).tokenize(&text, false).expect("ids");
    assert_eq!(ids.len(), case["ids"].int::<usize>());
    let rolling = ids.iter().fold(0u32, |sum, id| {
        sum.wrapping_mul(31).wrapping_add(u32::try_from(*id).expect("an id"))
    });
    assert_eq!(rolling, case["rolling"].int::<u32>());
}

#[test]
#[allow(non_snake_case)]
fn RB_51_error_cases_have_the_same_code_and_text() {
    let cases = cases();
    let model = model_of(&cases["errors_model"]);
    for case in cases["errors"].list() {
        let name = case["name"].text();
        let error = provoke(model, case).expect_err(name);
        assert_eq!(error.code().raw(), case["status"].int::<i32>(), "{name}: {error}");
        assert_eq!(error.message(), case["text"].text(), "{name}");
        assert_eq!(error.to_string(), error.message());
        assert!(!matches!(error.code(), ErrorCode::Unknown(_)), "{name}");
    }
}
