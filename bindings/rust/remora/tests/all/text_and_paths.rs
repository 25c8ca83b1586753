//! Text and paths of many scripts, sound files, and what C cannot take.

use remora::{audio, AudioFormat, ErrorCode, Model, Voice};

use crate::support::{all_pcm, golden, greedy_session, scratch, tiny, tiny_dir};

const NAMES: [&str; 4] = ["Речь и ещё", "语音合成", "😀👨‍👩‍👧", "naïve café"];

#[test]
#[allow(non_snake_case)]
fn RB_52_a_model_opens_below_folders_of_any_name() {
    for name in NAMES {
        let folder = scratch("models").join(name);
        std::fs::create_dir_all(&folder).expect(name);
        for entry in std::fs::read_dir(tiny_dir().join("s2-pro")).expect("the tiny model") {
            let path = entry.expect("a file").path();
            std::fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect(name);
        }
        let model = Model::open(&folder).expect(name);
        assert_eq!(model.info().expect(name), tiny().info().expect(name));
        let ids = model.tokenize(name, false).expect(name);
        assert_eq!(ids, tiny().tokenize(name, false).expect(name));
        assert!(ids.len() > 1, "{name}");
    }
}

#[test]
#[allow(non_snake_case)]
fn RB_52_sound_files_of_any_name_hold_what_was_written() {
    let sound: Vec<f32> = (0..4410u16).map(|i| f32::from(i % 100) / 100.0 - 0.5).collect();
    for name in NAMES {
        let path = scratch("sound").join(name).with_extension("wav");
        audio::write(&path, &sound, 2, 22050, AudioFormat::WavFloat).expect(name);
        let info = audio::info(&path).expect(name);
        assert_eq!((info.sample_rate, info.channels, info.frames), (22050, 2, 2205), "{name}");
        assert_eq!(audio::read(&path).expect(name), sound, "{name}");
    }
    let path = scratch("sound").join("odd.wav");
    let odd = audio::write(path, &sound[..3], 2, 22050, AudioFormat::WavPcm16);
    assert_eq!(odd.expect_err("a frame and a half").code(), ErrorCode::InvalidArgument);
    assert_eq!(audio::to_s16(&[0.5, -2.0, f32::NAN]).expect("numbers"), [16384, -32768, 0]);
    let header = audio::stream_header(AudioFormat::WavPcm16, 1, 44100).expect("a header");
    assert_eq!(&header[..4], b"RIFF");
}

#[test]
#[allow(non_snake_case)]
fn RB_51_what_c_cannot_take_is_refused_with_a_reason() {
    let error = Model::open("a\0b").expect_err("a NUL in a path");
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert!(error.message().contains("NUL at byte 1"), "{error}");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(b"caf\xe9");
        let error = Model::open(path).expect_err("Latin-1 in a path");
        assert!(error.message().contains("not UTF-8"), "{error}");
    }
    // In a text a NUL is a character like others.
    let ids = golden().tokenize("a\0b", false).expect("ids");
    assert_ne!(ids, golden().tokenize("a", false).expect("ids"));
    assert_eq!(golden().tokenize("", false).expect("ids"), []);
}

#[test]
fn voices_from_codes_sound_and_files_speak_and_are_saved() {
    let rate = tiny().info().expect("a description").sample_rate;
    let mut session = greedy_session(tiny(), 3);
    let mut speak = |prompt: remora::Prompt| {
        session.prefill(prompt).expect("a prompt");
        all_pcm(&mut session)
    };
    let plain = speak("Hello.".into());
    let sound: Vec<f32> = (0..rate).map(|i| (f64::from(i) * 0.05).sin() as f32 * 0.5).collect();
    let words = "Привет, 世界 😀";
    let voice = Voice::from_sound(tiny(), &sound, 1, rate, words).expect("a voice");
    let spoken = speak(remora::Prompt::new("Hello.").voice(&voice));
    assert_ne!(spoken, plain, "the voice is in the prompt");

    let path = scratch("voices").join("голос.wav");
    audio::write(&path, &sound, 1, rate, AudioFormat::WavFloat).expect("a file");
    let opened = Voice::open(tiny(), &path, words).expect("a voice from a file");
    let codes = tiny().encode(&sound, 1, rate).expect("codes");
    let coded = Voice::from_codes(tiny(), &codes, words).expect("a voice from codes");
    let bytes = voice.save().expect("bytes");
    let loaded = Voice::load(tiny(), &bytes).expect("a voice from bytes");
    for other in [&opened, &coded, &loaded] {
        assert_eq!(speak(remora::Prompt::new("Hello.").voice(other)), spoken);
    }
    let cut = Voice::load(tiny(), &bytes[..bytes.len() - 1]);
    assert_eq!(cut.expect_err("cut").code(), ErrorCode::Format);
    let odd = Voice::from_codes(tiny(), &codes[1..], words).expect_err("no whole frames");
    assert_eq!(odd.code(), ErrorCode::InvalidArgument);
}
