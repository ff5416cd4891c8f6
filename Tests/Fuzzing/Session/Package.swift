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
    ), .target(name: "CWebPage", path: "Shared/System/CWebPage", exclude: ["list-files"]),
    .systemLibrary(name: "CZlib", path: "Shared/System/CZlib"),
    .target(
      name: "WhiteboardWeb",
      dependencies: [
        "CWebPage", "CZlib", "PeerSession", crypto, .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "X509", package: "swift-certificates"), .product(name: "SwiftASN1", package: "swift-asn1"),
      ],
      path: "Shared/FrontEnds/WhiteboardWeb",
      // The shared gateway needs the boards.
      exclude: ["Resources", "SharedGateway.swift"],
      swiftSettings: settings + [.unsafeFlags(["-enable-testing"])]
    ),
    .executableTarget(
      name: "session",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerSession", "PeerWire", "WhiteboardWeb", crypto,
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
