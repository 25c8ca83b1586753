//! usage: say MODEL TEXT OUT.wav: speaks as the sound is made, and stops cleanly on an empty line.

use std::io::Write;
use std::process::ExitCode;

use remora::{audio, AudioFormat, ErrorCode, Finish, Model, Session};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, text, out] = &arguments[..] else {
        eprintln!("usage: say MODEL TEXT OUT.wav");
        return ExitCode::from(2);
    };
    match say(folder, text, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("say: {error}");
            ExitCode::FAILURE
        }
    }
}

fn say(folder: &str, text: &str, out: &str) -> remora::Result<()> {
    let model = Model::open(folder)?;
    let rate = model.info()?.sample_rate;
    let mut session = Session::new(&model)?;

    // Any thread may stop the generation; what was spoken so far is still written.
    let cancel = session.cancel_handle();
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            cancel.cancel();
        }
    });

    let mut sound = Vec::new();
    for piece in session.speak(text)? {
        match piece {
            Ok(piece) => sound.extend(piece),
            Err(error) if error.code() == ErrorCode::Cancelled => break,
            Err(error) => return Err(error),
        }
        eprint!("\r{} samples", sound.len());
        std::io::stderr().flush().ok();
    }
    audio::write(out, &sound, 1, rate, AudioFormat::WavPcm16)?;

    let stats = session.stats()?;
    eprintln!("\r{out}: {} samples at {rate} Hz, {} frames", sound.len(), stats.frames);
    if stats.finish == Finish::Length {
        eprintln!("say: stopped at a length limit");
    }
    Ok(())
}
