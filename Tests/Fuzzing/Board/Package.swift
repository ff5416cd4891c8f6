// swift-tools-version: 6.2
import PackageDescription

// The fuzzers of the board and its document. They are separate, because they need swift-crypto, GRDB and the graphics
// libraries.

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: ["FuzzSupport"] + dependencies, swiftSettings: settings)
}

let package = Package(
  name: "board-fuzzing",
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "PeerCore", path: "Shared/PeerCore", swiftSettings: settings),
    .target(
      name: "Whiteboard",
      dependencies: ["PeerCore"],
      path: "Shared/Whiteboard",
      // The moves of a game are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardSync",
      dependencies: ["PeerCore", "Whiteboard", .product(name: "Crypto", package: "swift-crypto")],
      path: "Shared/WhiteboardSync",
      // Answers are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardDocument",
      dependencies: [
        "PeerCore", "Whiteboard", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Shared/WhiteboardDocument",
      // The rows of a document are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardRendering",
      dependencies: ["PeerCore", "Whiteboard"],
      path: "Shared/WhiteboardRendering",
      swiftSettings: settings
    ), .systemLibrary(name: "CCairo", path: "Shared/CCairo"),
    .systemLibrary(name: "CChafa", path: "Shared/CChafa", pkgConfig: "chafa"),
    .systemLibrary(name: "CTurboJPEG", path: "Shared/CTurboJPEG"), .systemLibrary(name: "CWebP", path: "Shared/CWebP"),
    .target(
      name: "WhiteboardPictures",
      dependencies: [
        "CCairo", "CChafa", "CTurboJPEG", "CWebP", "PeerCore", "Whiteboard", "WhiteboardRendering",
      ],
      path: "Shared/WhiteboardPictures",
      swiftSettings: settings
    ), .target(name: "FuzzSupport", path: "FuzzSupport", swiftSettings: settings),
    fuzzer("answer", ["Whiteboard", "WhiteboardSync"]), fuzzer("batch", ["Whiteboard", "WhiteboardSync"]),
    fuzzer("document", ["WhiteboardDocument"]), fuzzer("games", ["Whiteboard"]), fuzzer("photo", ["Whiteboard"]),
    fuzzer("pictures", ["Whiteboard", "WhiteboardPictures", "WhiteboardRendering"]),
    fuzzer("resource-name", ["WhiteboardSync"]), fuzzer("sync", ["Whiteboard", "WhiteboardSync"]),
  ],
  swiftLanguageModes: [.v6]
)
