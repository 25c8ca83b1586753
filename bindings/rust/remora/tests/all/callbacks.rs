//! Callbacks: what they get, breaking off, and panics, which must come out at the call they belong to.

use std::io;
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

use remora::{ErrorCode, LogLevel, Model, ModelOptions, Reader, Source};

use crate::support::{all_pcm, golden, greedy_session, open_golden, tiny_dir};

/// The text of the panic that `body` must end with.
fn panic_of<R>(body: impl FnOnce() -> R) -> String {
    let panic = catch_unwind(AssertUnwindSafe(body)).err().expect("the panic comes out");
    panic.downcast_ref::<&str>().expect("the panic's own text").to_string()
}

#[test]
fn generate_gives_the_sound_of_the_iterator_and_one_last_piece() {
    let mut session = greedy_session(golden(), 9);
    let (mut heard, mut lasts) = (Vec::new(), 0);
    session
        .generate("Hello world.", |pcm, last| {
            assert_eq!(lasts, 0, "nothing follows the last piece");
            heard.extend_from_slice(pcm);
            lasts += i32::from(last);
            ControlFlow::Continue(())
        })
        .expect("speech");
    assert_eq!(lasts, 1);
    let pulled: Vec<f32> =
        session.speak("Hello world.").expect("a prompt").flat_map(Result::unwrap).collect();
    assert_eq!(heard, pulled);
}

#[test]
fn break_stops_a_generation_and_reset_makes_the_session_usable() {
    let mut session = greedy_session(golden(), 40);
    let mut calls = 0;
    let stopped = session.generate("Hello world.", |_, _| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert_eq!(stopped.expect_err("stopped").code(), ErrorCode::Cancelled);
    assert_eq!(calls, 1);
    session.reset().expect("a reset");
    session.prefill("Hello world.").expect("a prompt");
    assert!(!all_pcm(&mut session).is_empty());
}

#[test]
fn a_panic_in_the_audio_callback_comes_out_of_generate() {
    let mut session = greedy_session(golden(), 40);
    let mut calls = 0;
    let text = panic_of(|| {
        session.generate("Hello world.", |_, _| {
            calls += 1;
            panic!("no room for sound")
        })
    });
    assert_eq!((text.as_str(), calls), ("no room for sound", 1));
    session.reset().expect("the session outlives the panic");
    session.prefill("Hello world.").expect("a prompt");
}

#[test]
fn progress_rises_to_one_and_can_break_off() {
    let folder = tiny_dir().join("s2-pro");
    let options = ModelOptions::new().expect("the defaults");
    let mut seen = Vec::new();
    let mut watch = |fraction| {
        seen.push(fraction);
        ControlFlow::Continue(())
    };
    Model::open_with(&folder, &options, Some(&mut watch)).expect("a model");
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{seen:?}");
    assert_eq!(seen.last(), Some(&1.0));

    let stopped = Model::open_with(&folder, &options, Some(&mut |_| ControlFlow::Break(())));
    assert_eq!(stopped.expect_err("stopped").code(), ErrorCode::Cancelled);
}

#[test]
fn a_panic_in_the_progress_callback_comes_out_of_the_load() {
    let options = ModelOptions::new().expect("the defaults");
    let folder = tiny_dir().join("s2-pro");
    let text = panic_of(|| {
        Model::open_with(&folder, &options, Some(&mut |_| panic!("no patience"))).map(drop)
    });
    assert_eq!(text, "no patience");
}

struct PanickingReader;

impl Reader for PanickingReader {
    type File = ();

    fn open(&self, _name: &str) -> io::Result<((), u64)> {
        panic!("no archive")
    }

    fn read_at(&self, _file: &mut (), _offset: u64, _buffer: &mut [u8]) -> io::Result<()> {
        unreachable!("nothing was opened")
    }
}

#[test]
fn a_panic_in_a_reader_comes_out_of_the_load() {
    let mut source = Source::new().expect("a source");
    source.set_reader(PanickingReader).expect("the first reader");
    let options = ModelOptions::new().expect("the defaults");
    let text = panic_of(|| Model::from_source(&mut source, &options, None).map(drop));
    assert_eq!(text, "no archive");
    let again = source.set_reader(PanickingReader);
    assert_eq!(again.expect_err("one reader").code(), ErrorCode::InvalidState);
}

/// One test, because the log belongs to the process.
#[test]
fn the_log_is_heard_replaced_and_silenced_and_its_panic_comes_out() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let here = std::thread::current().id();
    remora::set_log(LogLevel::Debug, move |level, text| {
        if std::thread::current().id() == here {
            kept.lock().unwrap().push((level, text.to_owned()));
        }
    })
    .expect("a log");
    drop(open_golden());
    let heard = lines.lock().unwrap().clone();
    let warned = |(level, line): &(LogLevel, String)| {
        *level == LogLevel::Warn && line.contains("codebooks") && !line.ends_with('\n')
    };
    assert!(heard.iter().any(warned), "{heard:?}");

    let replaced = Arc::downgrade(&lines);
    drop(lines);
    remora::set_log(LogLevel::Debug, move |_, _| {
        if std::thread::current().id() == here {
            panic!("no ink")
        }
    })
    .expect("another log");
    assert!(replaced.upgrade().is_none(), "the earlier function was dropped");
    assert_eq!(panic_of(open_golden), "no ink");

    remora::clear_log().expect("silence");
    drop(open_golden());
}
