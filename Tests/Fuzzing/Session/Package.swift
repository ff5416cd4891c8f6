// swift-tools-version: 6.2
import PackageDescription

// The fuzzers of the code that needs swift-crypto, swift-nio and swift-nio-ssl. They are separate, because building all
// of that with coverage takes minutes.

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")

let package = Package(
  name: "session-fuzzing",
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "PeerCore", path: "Shared/Network/PeerCore", swiftSettings: settings),
    .target(name: "PeerWire", dependencies: ["PeerCore"], path: "Shared/Network/PeerWire", swiftSettings: settings),
    .target(
      name: "PeerDiscovery",
      dependencies: ["PeerCore"],
      path: "Shared/Network/PeerDiscovery",
      swiftSettings: settings
    ),
    .target(
      name: "PeerSession",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerWire", crypto, .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "X509", package: "swift-certificates"), .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "CryptoExtras", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
      ],
      path: "Shared/Network/PeerSession",
      // The state machines are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ), .systemLibrary(name: "CAvahi", path: "Shared/System/CAvahi"),
    .target(
      name: "AvahiDiscovery",
      dependencies: ["CAvahi", "PeerCore", "PeerDiscovery"],
      path: "Shared/Network/AvahiDiscovery",
      swiftSettings: settings
    ),
    .target(name: "Whiteboard", dependencies: ["PeerCore"], path: "Shared/Board/Whiteboard", swiftSettings: settings),
    .target(
      name: "WhiteboardSync",
      dependencies: ["PeerCore", "Whiteboard", crypto],
      path: "Shared/Board/WhiteboardSync",
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardDocument",
      dependencies: ["PeerCore", "Whiteboard", crypto, .product(name: "GRDB", package: "GRDB.swift")],
      path: "Shared/Board/WhiteboardDocument",
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardRendering",
      dependencies: ["PeerCore", "Whiteboard"],
      path: "Shared/Board/WhiteboardRendering",
      swiftSettings: settings
    ),
    .target(
      name: "SessionReplay",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerSession", "Whiteboard", "WhiteboardDocument", "WhiteboardSync", crypto,
        .product(name: "Logging", package: "swift-log"),
      ],
      path: "Shared/Kit/SessionReplay",
      swiftSettings: settings
    ), .systemLibrary(name: "CZlib", path: "Shared/System/CZlib"),
    .target(
      name: "WhiteboardKit",
      dependencies: [
        "AvahiDiscovery", "CZlib", "PeerCore", "PeerDiscovery", "PeerSession", "SessionReplay", "Whiteboard",
        "WhiteboardDocument", "WhiteboardRendering", "WhiteboardSync", crypto,
        .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Shared/Kit/WhiteboardKit",
      // The records of broadcasts are not public.
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ), .systemLibrary(name: "CQRCode", path: "Shared/System/CQRCode"),
    .target(name: "QRCode", dependencies: ["CQRCode"], path: "Shared/Kit/QRCode", swiftSettings: settings),
    .target(name: "CWebPage", path: "Shared/System/CWebPage", exclude: ["list-files"]),
    .target(
      name: "WhiteboardWeb",
      dependencies: [
        "CWebPage", "CZlib", "PeerCore", "PeerSession", "QRCode", "WhiteboardKit", crypto,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "X509", package: "swift-certificates"), .product(name: "SwiftASN1", package: "swift-asn1"),
      ],
      path: "Shared/FrontEnds/WhiteboardWeb",
      exclude: ["Resources"],
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .executableTarget(
      name: "session",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerSession", "PeerWire", "WhiteboardKit", "WhiteboardWeb", crypto,
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "NIOTLS", package: "swift-nio"), .product(name: "Logging", package: "swift-log"),
      ],
      path: "Fuzzers",
      sources: ["Entry.swift", "Fuzzers.swift", "Input.swift", "Session"],
      swiftSettings: settings + [.define("SESSION")]
    ),
  ],
  swiftLanguageModes: [.v6]
)
