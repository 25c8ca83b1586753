//! Which objects may go where, enumerations with unknown values, and the library's own facts.

use remora::{
    CancelHandle, CodecStream, DeviceKind, Dtype, Error, ErrorCode, Finish, Frame, Model, Session,
    Source, Voice,
};

use crate::support::{golden, greedy_session};

fn send<T: Send>() {}
fn sync<T: Sync>() {}

/// Tells by method resolution whether a type is `Sync`: the inherent answer wins where it applies.
struct Probe<T>(std::marker::PhantomData<T>);

impl<T: Sync> Probe<T> {
    const SYNC: bool = true;
}

trait NotSync {
    const SYNC: bool = false;
}

impl<T> NotSync for Probe<T> {}

#[test]
fn models_and_voices_are_shared_and_sessions_move() {
    send::<Model>();
    sync::<Model>();
    send::<Voice>();
    sync::<Voice>();
    send::<CancelHandle>();
    sync::<CancelHandle>();
    send::<Error>();
    sync::<Error>();
    send::<Session>();
    send::<Source>();
    send::<CodecStream>();
    const { assert!(Probe::<Model>::SYNC && !Probe::<Session>::SYNC) };
}

#[test]
fn unknown_values_are_kept() {
    assert_eq!(ErrorCode::from_raw(-999), ErrorCode::Unknown(-999));
    assert_eq!(ErrorCode::from_raw(-999).raw(), -999);
    assert_eq!(ErrorCode::from_raw(-999).name(), "REMORA_E_UNKNOWN");
    assert_eq!(ErrorCode::ContextFull.name(), "REMORA_E_CONTEXT_FULL");
    for raw in -16..=-1 {
        assert!(!matches!(ErrorCode::from_raw(raw), ErrorCode::Unknown(_)), "{raw}");
        assert_eq!(ErrorCode::from_raw(raw).raw(), raw);
    }
    assert_eq!(Dtype::from_raw(77).raw(), 77);
    assert_eq!(Finish::from_raw(2), Finish::Length);
}

#[test]
fn the_library_says_what_it_is() {
    let version = remora::version();
    let text = format!("{}.{}.{}", version.major, version.minor, version.patch);
    assert!(remora::build_info().contains(&text), "{}", remora::build_info());
    assert_eq!(remora::abi_version(), 0);
    assert_eq!(remora::device_count(DeviceKind::Cpu), 1);
    assert_eq!(remora::device_count(DeviceKind::Unknown(99)), 0);
    assert!(!remora::device(DeviceKind::Cpu, 0).expect("the processor").name.is_empty());
    let none = remora::device(DeviceKind::Cuda, 99).expect_err("no machine has so many");
    assert_eq!(none.code(), ErrorCode::Unsupported);
    remora::trim_memory().expect("memory is given back");
    let none = remora::set_threads(0).expect_err("no thread");
    assert_eq!(none.code(), ErrorCode::InvalidArgument);
}

#[test]
fn models_speak_on_many_threads_at_once() {
    let speak = |model: &Model| {
        let mut session = greedy_session(model, 4);
        session.prefill("Hello world.").expect("a prompt");
        session.frames().map(|frame| frame.expect("a frame")).collect::<Vec<Frame>>()
    };
    let expected = speak(golden());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| speak(&golden().clone()))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("speech"), expected);
        }
    });
}

#[test]
fn a_codec_stream_gives_the_whole_clip_in_pieces() {
    let rows = golden().n_codebooks();
    let codes: Vec<i32> = (0..rows * 6).map(|i| (i * 7 % 100) as i32).collect();
    let whole = golden().decode(&codes).expect("sound");
    let mut stream = CodecStream::new(golden()).expect("a stream");
    for _ in 0..2 {
        let mut joined = Vec::new();
        for columns in [0..2, 2..3, 3..6] {
            let piece: Vec<i32> =
                codes.chunks(6).flat_map(|row| row[columns.clone()].to_vec()).collect();
            joined.extend(stream.push(&piece).expect("a piece"));
        }
        assert_eq!(joined.len(), whole.len());
        // The bound of remora.h: other piece lengths, other orders of summation.
        assert!(joined.iter().zip(&whole).all(|(a, b)| (a - b).abs() <= 2e-5));
        stream.reset().expect("the start");
    }
    let error = stream.push(&codes[1..]).expect_err("no whole frames");
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}
