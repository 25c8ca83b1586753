// say MODEL TEXT OUT.wav: writes the sound of a text, telling on the way how much is there.
import Foundation
import Remora

func note(_ text: String) {
  FileHandle.standardError.write(Data((text + "\n").utf8))
}

let arguments = CommandLine.arguments
guard arguments.count == 4 else {
  note("usage: say MODEL TEXT OUT.wav")
  exit(2)
}

do {
  let model = try Model(directory: arguments[1])
  let rate = model.info.sampleRate
  let stream = try model.speak(Prompt(arguments[2]))
  var pcm: [Float] = []
  for try await piece in stream {
    pcm += piece
    note("\(pcm.count * 1000 / max(1, rate)) ms")
  }
  try AudioFile.write(Sound(samples: pcm, sampleRate: rate), to: arguments[3])
  if try await stream.stats().finish != .endToken {
    note("say: stopped at a limit; the sound so far is good")
    exit(3)
  }
} catch {
  note("say: \(error)")
  exit(1)
}
