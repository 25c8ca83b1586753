// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "Remora",
  // Mutex and AsyncSequence with a typed error.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "Remora", targets: ["Remora"])
  ],
  targets: [
    .systemLibrary(name: "CRemora", pkgConfig: "remora"),
    .target(name: "Remora", dependencies: ["CRemora"]),
    .executableTarget(name: "say", dependencies: ["Remora"], path: "Examples/say"),
    .testTarget(name: "RemoraTests", dependencies: ["Remora", "CRemora"]),
  ],
  swiftLanguageModes: [.v6]
)
