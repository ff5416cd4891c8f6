// swift-tools-version: 6.2
import PackageDescription

// The code under test is reached through a symbolic link to its sources. So dependencies that a fuzzer does not need
// are neither resolved nor built, and all other code is instrumented.

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "fuzzing",
  targets: [
    .target(name: "PeerCore", path: "Shared/Network/PeerCore", swiftSettings: settings),
    .target(name: "PeerWire", dependencies: ["PeerCore"], path: "Shared/Network/PeerWire", swiftSettings: settings),
    .target(
      name: "PeerDiscovery",
      dependencies: ["PeerCore"],
      path: "Shared/Network/PeerDiscovery",
      swiftSettings: settings
    ),
    .target(name: "WhiteboardTerminal", path: "Shared/FrontEnds/WhiteboardTerminal/Input", swiftSettings: settings),
    .target(name: "Whiteboard", dependencies: ["PeerCore"], path: "Shared/Board/Whiteboard", swiftSettings: settings),
    .target(
      name: "WhiteboardRendering",
      dependencies: ["PeerCore", "Whiteboard"],
      path: "Shared/Board/WhiteboardRendering",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "pure",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerWire", "Whiteboard", "WhiteboardRendering", "WhiteboardTerminal",
      ],
      path: "Fuzzers",
      sources: ["Entry.swift", "Fuzzers.swift", "Input.swift", "Pure"],
      swiftSettings: settings + [.define("PURE")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
