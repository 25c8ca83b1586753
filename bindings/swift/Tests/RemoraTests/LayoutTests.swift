// The structs and constants as Swift sees them, against the table that the C test uses.
import Foundation
import Testing

@Suite struct LayoutTests {
  static func goldenLines() throws -> [[String]] {
    let file = Place.root.appending(path: "tests/abi/layout.txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }

  @Test func structsLieAsInTheGoldenTable() throws {
    var name = ""
    var golden: [String: [String]] = [:]
    for words in try Self.goldenLines() {
      if words[0] == "struct" {
        name = words[1]
        golden[name] = ["size \(words[2])"]
      } else if words[0] != "constant" {
        golden[name, default: []].append("\(words[0]) \(words[1]) \(words[3])")
      }
    }
    #expect(golden.count >= 9)
    for (name, lines) in golden {
      #expect(structLayouts[name] == lines, "\(name)")
    }
  }

  @Test func constantsHaveTheGoldenValues() throws {
    let golden = try Self.goldenLines().filter { $0[0] == "constant" }
    #expect(golden.count >= 50)
    for words in golden {
      #expect(constants[words[1]].map { "\($0)" } == words[2], "\(words[1])")
    }
  }
}
