//! Sessions: iterators, cancelling, state.

use std::time::{Duration, Instant};

use remora::{ErrorCode, Finish, Prompt, Session, SessionOptions, Step};

use crate::support::{all_pcm, golden, greedy, greedy_session};

const TEXT: &str = "Hello world.";

#[test]
fn a_dropped_iterator_leaves_the_session_usable() {
    let mut session = greedy_session(golden(), 12);
    session.prefill(TEXT).expect("a prompt");
    let first = session.frames().next().expect("a frame").expect("a frame");
    drop(session.speak(TEXT).expect("another prompt")); // not one piece was pulled
    let frames: Vec<_> = session.frames().map(Result::unwrap).collect();
    assert_eq!(frames.len(), 12, "the second prompt was not spoken to its end");
    assert_eq!(frames[0].codes, first.codes, "nor did the first one leave a trace");

    session.prefill(TEXT).expect("a prompt");
    let some: Vec<_> = session.frames().take(5).map(Result::unwrap).collect();
    let rest: Vec<_> = session.frames().map(Result::unwrap).collect();
    assert_eq!([some, rest].concat(), frames, "another iterator goes on where the first stopped");
}

#[test]
fn iterators_end_once_and_after_an_error() {
    let mut session = greedy_session(golden(), 2);
    let mut frames = session.frames();
    let error = frames.next().expect("an item").expect_err("no prompt yet");
    assert_eq!(error.code(), ErrorCode::InvalidState);
    assert!(frames.next().is_none(), "fused after an error");

    session.prefill(TEXT).expect("a prompt");
    let mut frames = session.frames();
    assert_eq!(frames.by_ref().count(), 2);
    assert!(frames.next().is_none());
    let mut pcm = session.pcm();
    assert!(pcm.by_ref().all(|piece| piece.is_ok()));
    assert!(pcm.next().is_none());
}

#[test]
fn frames_count_columns_and_buffers_are_checked() {
    let mut session = greedy_session(golden(), 3);
    session.prefill(TEXT).expect("a prompt");
    let start = session.position().expect("a position");
    let error = session.step(&mut [0; 5]).expect_err("room for five of six codes");
    assert_eq!(error.code(), ErrorCode::BufferTooSmall);
    assert_eq!(session.step(&mut []).expect_err("no room").code(), ErrorCode::BufferTooSmall);
    let mut codes = [-1; 8];
    let step = session.step(&mut codes).expect("a step");
    let position = i64::try_from(start).unwrap();
    assert_eq!(step, Some(Step { n_codes: 6, position }));
    assert_eq!(codes[6..], [-1, -1]);
    assert_eq!(session.position().expect("a position"), start + 1);
    assert_eq!(session.read_pcm(&mut []).expect("no room for sound is no error"), Some(0));
}

fn argmax(values: &[f32]) -> i32 {
    let best = (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b]));
    best.expect("logits").try_into().unwrap()
}

#[test]
fn kept_logits_are_what_greedy_codes_are_drawn_from() {
    let mut options = SessionOptions::new().expect("the defaults");
    assert!(!options.keep_logits);
    options.keep_logits = true;
    let mut session = Session::with_options(golden(), &options).expect("a session");
    session.set_sampling(&greedy(3)).expect("sampling");
    assert_eq!(session.logits(0).expect_err("no prompt").code(), ErrorCode::InvalidState);
    session.prefill(TEXT).expect("a prompt");
    assert_eq!(session.logits(1).expect_err("no frame").code(), ErrorCode::InvalidState);
    assert_eq!(session.logits(6).expect_err("no codebook").code(), ErrorCode::InvalidArgument);

    let info = golden().info().expect("what the model is");
    let end_is_first = i32::from(info.end_token < info.semantic_begin);
    let next = session.logits(0).expect("of the next frame");
    assert_eq!(next.len(), info.codebook_size + 1);
    let mut codes = [0; 6];
    session.step(&mut codes).expect("a frame");
    assert_eq!(argmax(&next) - end_is_first, codes[0]);
    for (codebook, code) in (1..6).zip(&codes[1..]) {
        assert_eq!(argmax(&session.logits(codebook).expect("of the last frame")), *code);
    }
}

#[test]
fn without_the_option_the_error_names_it() {
    let mut session = greedy_session(golden(), 3);
    session.prefill(TEXT).expect("a prompt");
    let error = session.logits(0).expect_err("nothing is kept");
    assert_eq!(error.code(), ErrorCode::InvalidState);
    assert!(error.to_string().contains("KEEP_LOGITS"), "{error}");
}

#[test]
fn another_thread_cancels_a_generation() {
    let mut sampling = greedy(2000);
    sampling.max_frames = 2000;
    let mut session = Session::new(golden()).expect("a session");
    session.set_sampling(&sampling).expect("sampling");
    let cancel = session.cancel_handle();
    session.prefill(TEXT).expect("a prompt");
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        cancel.cancel();
        Instant::now()
    });
    let error = session.pcm().find_map(Result::err).expect("it does not come to its end");
    let stopped = Instant::now();
    assert_eq!(error.code(), ErrorCode::Cancelled);
    let asked = other.join().expect("the other thread");
    // A step or a piece of the tiny model takes milliseconds; the rest is a machine under load.
    assert!(stopped.saturating_duration_since(asked) < Duration::from_secs(10));
    assert_eq!(session.stats().expect("statistics").finish, Finish::Cancelled);
    session.reset().expect("a reset");
    session.set_sampling(&greedy(2)).expect("sampling");
    session.prefill(TEXT).expect("a prompt after the reset");
}

#[test]
fn a_session_moves_to_another_thread_and_its_handle_outlives_it() {
    let mut session = greedy_session(golden(), 2);
    let cancel = session.cancel_handle();
    let pcm = std::thread::spawn(move || {
        session.prefill(TEXT).expect("a prompt");
        all_pcm(&mut session)
    });
    assert!(!pcm.join().expect("speech").is_empty());
    cancel.clone().cancel(); // the session is gone: nothing happens
}

#[test]
fn cancelling_and_dropping_at_once_is_safe() {
    for _ in 0..50 {
        let session = greedy_session(golden(), 2);
        let cancel = session.cancel_handle();
        let other = std::thread::spawn(move || (0..20).for_each(|_| cancel.cancel()));
        drop(session);
        other.join().expect("the other thread");
    }
}

#[test]
fn copies_saved_states_and_rewound_sessions_go_on_alike() {
    let mut session = greedy_session(golden(), 10);
    session.prefill(TEXT).expect("a prompt");
    let start = session.position().expect("a position");
    assert_eq!(session.frames().take(4).filter(Result::is_ok).count(), 4);
    let mut copy = session.try_clone().expect("a copy");
    let mut loaded = greedy_session(golden(), 10);
    loaded.load(&session.save().expect("a state")).expect("the state");
    let rest: Vec<_> = session.frames().map(Result::unwrap).collect();
    assert_eq!(rest.len(), 6);
    assert_eq!(copy.frames().map(Result::unwrap).collect::<Vec<_>>(), rest);
    assert_eq!(loaded.frames().map(Result::unwrap).collect::<Vec<_>>(), rest);
    assert_eq!(loaded.load(b"no state").expect_err("damaged").code(), ErrorCode::Format);

    session.rewind(start).expect("back to the prompt");
    assert_eq!(session.position().expect("a position"), start);
    let past = session.rewind(start + 1).expect_err("past the end");
    assert_eq!(past.code(), ErrorCode::InvalidArgument);
    session.prefill(TEXT).expect("the same prompt");
    let again: Vec<_> = session.frames().map(Result::unwrap).collect();
    assert_eq!(again[4..], rest);
}

#[test]
fn statistics_and_options_are_those_asked_for() {
    let mut options = SessionOptions::new().expect("the defaults");
    options.capacity = 128;
    options.codec_chunk_first = 1;
    let mut session = Session::with_options(golden(), &options).expect("a session");
    session.warm_up().expect("the first-use work");
    session.set_sampling(&greedy(3)).expect("sampling");
    let prompt = Prompt::new(TEXT).clean_text().no_split();
    let samples: usize =
        session.speak(prompt).expect("a prompt").map(|piece| piece.unwrap().len()).sum();
    let stats = session.stats().expect("statistics");
    assert_eq!((stats.frames, stats.samples), (3, samples as u64));
    assert_eq!((stats.finish, stats.kv_capacity), (Finish::Length, 128));
    assert_eq!((stats.pieces, stats.pieces_done), (1, 1));
    assert!(stats.first_audio.is_some() && !stats.prefill.is_zero());

    options.codec_chunk_first = 0;
    let error = Session::with_options(golden(), &options).expect_err("no piece is that short");
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}

#[test]
fn equal_seeds_give_equal_speech_and_context_is_kept_when_asked() {
    let mut session = greedy_session(golden(), 6);
    let mut sampling = greedy(6);
    (sampling.temperature, sampling.seed) = (0.8, 7);
    session.set_sampling(&sampling).expect("sampling");
    let mut speak = |prompt: Prompt| {
        session.prefill(prompt).expect("a prompt");
        let codes: Vec<_> = session.frames().map(|frame| frame.unwrap().codes).collect();
        (codes, session.stats().expect("statistics").prompt_tokens)
    };
    let (first, alone) = speak(TEXT.into());
    assert_eq!(speak(TEXT.into()), (first, alone));
    assert!(speak(Prompt::new(TEXT).keep_context()).1 > alone, "the earlier turn is there");
}

#[test]
fn sessions_stepped_together_make_what_they_make_alone() {
    let mut alone = [greedy_session(golden(), 3), greedy_session(golden(), 5)];
    let mut pair = [greedy_session(golden(), 3), greedy_session(golden(), 5)];
    let texts = [TEXT, "One after the other."];
    for (session, text) in alone.iter_mut().chain(pair.iter_mut()).zip(texts.iter().cycle()) {
        session.prefill(*text).expect("a prompt");
    }
    let expected: Vec<Vec<_>> =
        alone.iter_mut().map(|one| one.frames().map(Result::unwrap).collect()).collect();
    let mut idle = greedy_session(golden(), 3);
    let [first, second] = &mut pair;
    for step in 0..6 {
        let made =
            Session::step_together(&mut [first, &mut idle, second]).expect("a step of three");
        assert_eq!(made[0].as_ref().expect("a frame").as_ref(), expected[0].get(step));
        assert_eq!(made[2].as_ref().expect("a frame").as_ref(), expected[1].get(step));
        let error = made[1].as_ref().expect_err("no prompt");
        assert_eq!(error.code(), ErrorCode::InvalidState);
        assert!(error.message().contains("no prompt yet"), "{error}");
    }
    let error = Session::step_together(&mut []).expect_err("no session");
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}
