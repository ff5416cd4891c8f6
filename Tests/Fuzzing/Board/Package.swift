// swift-tools-version: 6.2
import PackageDescription

// The fuzzers of the board and its document. They are separate, because they need swift-crypto, GRDB and the graphics
// libraries.

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let package = Package(
  name: "board-fuzzing",
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "PeerCore", path: "Shared/Network/PeerCore", swiftSettings: settings),
    .target(
      name: "Whiteboard",
      dependencies: ["PeerCore"],
      path: "Shared/Board/Whiteboard",
      // The moves of a game are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardSync",
      dependencies: ["PeerCore", "Whiteboard", .product(name: "Crypto", package: "swift-crypto")],
      path: "Shared/Board/WhiteboardSync",
      // Answers are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardDocument",
      dependencies: [
        "PeerCore", "Whiteboard", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Shared/Board/WhiteboardDocument",
      // The rows of a document are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .target(
      name: "WhiteboardRendering",
      dependencies: ["PeerCore", "Whiteboard"],
      path: "Shared/Board/WhiteboardRendering",
      swiftSettings: settings
    ), .systemLibrary(name: "CCairo", path: "Shared/System/CCairo"),
    .systemLibrary(name: "CChafa", path: "Shared/System/CChafa", pkgConfig: "chafa"),
    .systemLibrary(name: "CTurboJPEG", path: "Shared/System/CTurboJPEG"),
    .systemLibrary(name: "CWebP", path: "Shared/System/CWebP"),
    .target(
      name: "WhiteboardPictures",
      dependencies: [
        "CCairo", "CChafa", "CTurboJPEG", "CWebP", "PeerCore", "Whiteboard", "WhiteboardRendering",
      ],
      path: "Shared/Board/WhiteboardPictures",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "board",
      dependencies: [
        "Whiteboard", "WhiteboardDocument", "WhiteboardPictures", "WhiteboardRendering", "WhiteboardSync",
      ],
      path: "Fuzzers",
      sources: ["Entry.swift", "Fuzzers.swift", "Input.swift", "Board"],
      swiftSettings: settings + [.define("BOARD")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
