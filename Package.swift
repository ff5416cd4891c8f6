// swift-tools-version: 6.2
import Glibc
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// The products of other packages that more than one target uses.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioConcurrencyHelpers = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

// Relays form clusters with NATS if libnats is installed, or with the trait. A trait that is enabled by default would
// change the flags of all modules. WHITEBOARD_NATS=no excludes libnats.
let hasNATS = access("/usr/include/nats/nats.h", R_OK) == 0 && Context.environment["WHITEBOARD_NATS"] != "no"
let ofCluster: BuildSettingCondition? = hasNATS ? nil : .when(traits: ["Cluster"])
let nats = Target.Dependency.target(name: "CNats", condition: hasNATS ? nil : .when(traits: ["Cluster"]))
let clusterSettings = settings + [.define("CLUSTER", ofCluster)]

extension Product {
  /// A library of one target.
  static func of(_ target: String) -> Product { library(name: target, targets: [target]) }
}

let package = Package(
  name: "whiteboard",
  // Programs are not products, so that packages that use a library do not need their dependencies.
  products: [
    Product.of("AvahiDiscovery"), .of("PeerCore"), .of("PeerDiscovery"), .of("PeerSession"), .of("PeerWire"),
    .of("SessionReplay"), .of("Whiteboard"), .of("WhiteboardDocument"), .of("WhiteboardKit"), .of("WhiteboardSync"),
  ],
  traits: [.trait(name: "Cluster", description: "Relays that form clusters with NATS; needs libnats.")],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Avahi has no pkgConfig here, because SwiftPM refuses one of its flags. The module map already has the effect of
    // the other flags.
    .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
    .systemLibrary(name: "CBrotli", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CCairo", providers: [.apt(["libcairo2-dev", "libpango1.0-dev"])]),
    // The header of chafa includes headers of GLib, and only pkg-config knows their directories.
    .systemLibrary(name: "CChafa", pkgConfig: "chafa", providers: [.apt(["libchafa-dev"])]),
    .systemLibrary(name: "CNats", providers: [.apt(["libnats-dev"])]),
    .systemLibrary(name: "CMalloc"), .target(name: "CVersion"),
    .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
    .systemLibrary(name: "CWebP", providers: [.apt(["libwebp-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CQRCode", providers: [.apt(["libqrencode-dev"])]),
    .target(name: "PeerCore", swiftSettings: settings),
    .target(name: "PeerDiscovery", dependencies: ["PeerCore"], swiftSettings: settings),
    .target(name: "AvahiDiscovery", dependencies: ["CAvahi", "PeerCore", "PeerDiscovery"], swiftSettings: settings),
    .target(name: "PeerWire", dependencies: ["PeerCore"], swiftSettings: settings),
    .target(
      name: "PeerSession",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerWire", crypto, logging, nioCore, nioPosix, nioSSL, swiftASN1,
        x509, .product(name: "CryptoExtras", package: "swift-crypto"),
        .product(name: "NIOTLS", package: "swift-nio"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "RelayCluster",
      dependencies: [nats, nioConcurrencyHelpers, nioPosix],
      swiftSettings: clusterSettings
    ),
    .target(
      name: "Whiteboard",
      dependencies: ["PeerCore"],
      swiftSettings: settings,
      linkerSettings: [.linkedLibrary("m")]
    ), .target(name: "WhiteboardSync", dependencies: ["PeerCore", "Whiteboard", crypto], swiftSettings: settings),
    .target(
      name: "WhiteboardDocument",
      dependencies: ["PeerCore", "Whiteboard", crypto, grdb],
      swiftSettings: settings
    ), .target(name: "QRCode", dependencies: ["CQRCode"], swiftSettings: settings),
    .target(name: "WhiteboardRendering", dependencies: ["PeerCore", "Whiteboard"], swiftSettings: settings),
    .target(
      name: "WhiteboardPictures",
      dependencies: ["CCairo", "CChafa", "CTurboJPEG", "CWebP", "PeerCore", "Whiteboard", "WhiteboardRendering"],
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardKit",
      dependencies: [
        "AvahiDiscovery", "CZlib", "PeerCore", "PeerDiscovery", "PeerSession", "SessionReplay", "Whiteboard",
        "WhiteboardDocument", "WhiteboardRendering", "WhiteboardSync", crypto, logging, nioCore,
      ],
      swiftSettings: settings
    ),
    .target(
      name: "CommandLines",
      dependencies: [
        "PeerCore", "PeerSession", "Whiteboard", "WhiteboardKit", "WhiteboardRendering", "WhiteboardSync", logging,
      ],
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardDoctor",
      dependencies: ["AvahiDiscovery", "PeerCore", "PeerDiscovery", "WhiteboardKit"],
      swiftSettings: settings
    ),
    .target(name: "CWebPage", exclude: ["list-files"]),
    .target(
      name: "WhiteboardWeb",
      dependencies: [
        "CWebPage", "CZlib", "PeerCore", "PeerSession", "QRCode", "WhiteboardKit", crypto, nioCore, nioHTTP1, nioPosix,
        nioSSL, swiftASN1,
        x509, .product(name: "NIOWebSocket", package: "swift-nio"),
      ],
      exclude: ["Resources"],
      swiftSettings: settings
    ), .target(name: "CTerminal"),
    .target(
      name: "WhiteboardTerminal",
      dependencies: [
        "CommandLines", "CTerminal", "PeerCore", "PeerDiscovery", "QRCode", "SessionReplay", "Whiteboard",
        "WhiteboardDoctor", "WhiteboardKit", "WhiteboardPictures", "WhiteboardRendering", "WhiteboardSync",
      ],
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardPrograms",
      dependencies: [
        "CMalloc", "CVersion", "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "QRCode", "Whiteboard",
        "WhiteboardDocument", "WhiteboardKit", "WhiteboardRendering", argumentParser, logging,
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "whiteboard-peer",
      dependencies: [
        "AvahiDiscovery", "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "Whiteboard",
        "WhiteboardDoctor", "WhiteboardDocument", "WhiteboardKit", "WhiteboardPictures", "WhiteboardPrograms",
        "WhiteboardRendering", "WhiteboardTerminal", "WhiteboardWeb", argumentParser, logging,
      ],
      swiftSettings: settings
    ),
    .target(
      name: "WhiteboardRelay",
      dependencies: [
        "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "PeerWire", "RelayCluster", "WhiteboardDocument",
        "WhiteboardKit", "WhiteboardWeb", logging, nioCore, nioHTTP1, nioPosix,
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "whiteboard-relay",
      dependencies: [
        "AvahiDiscovery", "CommandLines", "PeerCore", "PeerSession", "RelayCluster", "WhiteboardKit",
        "WhiteboardPrograms", "WhiteboardRelay", "WhiteboardWeb", argumentParser, logging,
      ],
      swiftSettings: settings
    ),
    .target(
      name: "SessionReplay",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerSession", "Whiteboard", "WhiteboardDocument", "WhiteboardSync", crypto,
        logging,
      ],
      swiftSettings: settings
    ),
    .executableTarget(
      name: "whiteboard-replay",
      dependencies: [
        "AvahiDiscovery", "CBrotli", "CWebPage", "CZlib", "CommandLines", "PeerCore", "PeerSession", "SessionReplay",
        "Whiteboard", "WhiteboardDocument", "WhiteboardKit", "WhiteboardPictures", "WhiteboardPrograms",
        "WhiteboardRendering", "WhiteboardSync", "WhiteboardTerminal", argumentParser, logging,
      ],
      resources: [.embedInCode("SharePage/page.html"), .embedInCode("SharePage/player.mjs")],
      swiftSettings: settings
    ), .target(name: "PeerTestKit", dependencies: ["PeerCore", "PeerDiscovery"], path: "Tests/PeerTestKit"),
    .target(
      name: "BoardWorlds",
      dependencies: ["PeerCore", "PeerTestKit", "Whiteboard", "WhiteboardSync", crypto],
      path: "Tests/BoardWorlds/Worlds",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "board-worlds",
      dependencies: ["BoardWorlds", "SessionReplay", "Whiteboard"],
      path: "Tests/BoardWorlds/Program",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "replay-bench",
      dependencies: ["PeerTestKit", "SessionReplay", "Whiteboard", "WhiteboardDocument", "WhiteboardSync"],
      path: "Tests/Benchmarks/Replay",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "render-bench",
      dependencies: [
        "PeerTestKit", "Whiteboard", "WhiteboardKit", "WhiteboardRendering", "WhiteboardSync", "WhiteboardTerminal",
      ],
      path: "Tests/Benchmarks/Rendering",
      swiftSettings: settings
    ),
    .executableTarget(
      name: "relay-bench",
      dependencies: [
        "PeerCore", "PeerSession", "Whiteboard", "WhiteboardKit", "WhiteboardRelay", "WhiteboardSync", logging,
      ],
      path: "Tests/Benchmarks/Relay",
      swiftSettings: settings
    ), .testTarget(name: "PeerCoreTests", dependencies: ["PeerCore"]),
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "CZlib", "PeerCore", "PeerDiscovery", "PeerSession", "PeerWire", "Whiteboard", "WhiteboardDocument",
        "WhiteboardKit", "WhiteboardPictures", "WhiteboardRendering", "WhiteboardSync", "WhiteboardTerminal",
        "WhiteboardWeb", crypto, logging, nioCore, nioEmbedded, nioPosix, nioSSL,
        .product(name: "NIOTLS", package: "swift-nio"),
      ],
      exclude: ["Entry.swift"]
    ),
    .testTarget(name: "PeerDiscoveryTests", dependencies: ["PeerCore", "PeerDiscovery", "PeerTestKit"]),
    .testTarget(
      name: "AvahiDiscoveryTests",
      dependencies: ["AvahiDiscovery", "CAvahi", "PeerCore", "PeerDiscovery", "PeerTestKit"]
    ), .testTarget(name: "PeerWireTests", dependencies: ["PeerCore", "PeerTestKit", "PeerWire"]),
    .testTarget(
      name: "PeerSessionTests",
      dependencies: [
        "PeerCore", "PeerDiscovery", "PeerSession", "PeerTestKit", "PeerWire", crypto, logging, nioConcurrencyHelpers,
        nioCore, nioEmbedded, nioPosix, swiftASN1, x509,
      ]
    ),
    .target(
      name: "ClusterTestKit",
      dependencies: ["RelayCluster", nioConcurrencyHelpers],
      path: "Tests/Cluster/Kit"
    ),
    .testTarget(
      name: "RelayClusterTests",
      dependencies: ["ClusterTestKit", "RelayCluster"],
      swiftSettings: [.define("CLUSTER", ofCluster)]
    ),
    .testTarget(
      name: "MembershipWorldTests",
      dependencies: ["PeerCore", "PeerDiscovery", "PeerSession", "PeerTestKit", "PeerWire", nioCore]
    ), .testTarget(name: "QRCodeTests", dependencies: ["QRCode"]),
    .testTarget(
      name: "WhiteboardKitTests",
      dependencies: [
        "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "PeerTestKit", "Whiteboard", "WhiteboardDocument",
        "WhiteboardKit", "WhiteboardPictures", "WhiteboardPrograms", "WhiteboardRendering", "WhiteboardSync",
        "WhiteboardTerminal", logging,
      ],
      exclude: ["Files/Cases"]
    ),
    .testTarget(
      name: "CommandLinesTests",
      dependencies: [
        "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "PeerTestKit", "Whiteboard", "WhiteboardKit",
        "WhiteboardRendering",
      ],
      exclude: ["Commands/CommandTranscript.txt", "Events/EventLines.txt"]
    ),
    .testTarget(
      name: "WhiteboardDoctorTests",
      dependencies: ["PeerDiscovery", "WhiteboardDoctor", "WhiteboardKit"]
    ),
    .testTarget(
      name: "WhiteboardProgramsTests",
      dependencies: ["CommandLines", "PeerDiscovery", "PeerSession", "PeerTestKit", "WhiteboardPrograms", logging]
    ),
    .testTarget(
      name: "WhiteboardRelayTests",
      dependencies: [
        "ClusterTestKit", "CommandLines", "PeerCore", "PeerDiscovery", "PeerSession", "PeerTestKit", "RelayCluster",
        "WhiteboardDocument", "WhiteboardKit", "WhiteboardRelay", "WhiteboardWeb", logging, nioConcurrencyHelpers,
        nioCore, nioPosix,
      ]
    ),
    .testTarget(
      name: "WhiteboardRenderingTests",
      dependencies: ["PeerCore", "PeerTestKit", "Whiteboard", "WhiteboardRendering"],
      exclude: ["Goldens"]
    ),
    .testTarget(
      name: "WhiteboardPicturesTests",
      dependencies: ["PeerCore", "PeerTestKit", "Whiteboard", "WhiteboardPictures", "WhiteboardRendering"],
      exclude: ["Pictures"]
    ),
    .testTarget(
      name: "WhiteboardTerminalTests",
      dependencies: [
        "CommandLines", "PeerCore", "PeerTestKit", "SessionReplay", "Whiteboard", "WhiteboardDoctor",
        "WhiteboardDocument", "WhiteboardKit", "WhiteboardRendering", "WhiteboardSync", "WhiteboardTerminal",
      ]
    ),
    .testTarget(
      name: "SessionReplayTests",
      dependencies: [
        "BoardWorlds", "PeerCore", "PeerSession", "PeerTestKit", "SessionReplay", "Whiteboard", "WhiteboardDocument",
        "WhiteboardSync", crypto, logging,
      ]
    ), .testTarget(name: "WhiteboardTests", dependencies: ["PeerTestKit", "Whiteboard"]),
    .testTarget(
      name: "WhiteboardWebTests",
      dependencies: ["PeerCore", "PeerSession", "WhiteboardKit", "WhiteboardWeb", nioCore, nioPosix, nioSSL, x509]
    ),
    .testTarget(
      name: "WhiteboardDocumentTests",
      dependencies: ["PeerTestKit", "Whiteboard", "WhiteboardDocument", crypto, grdb]
    ),
    .testTarget(
      name: "WhiteboardSyncTests",
      dependencies: ["BoardWorlds", "PeerCore", "PeerTestKit", "Whiteboard", "WhiteboardSync", crypto]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// The tools of the tests and benchmarks are not built by default. Tests/run sets the variable to `worlds` or `all`.
let benchmarks = ["relay-bench", "render-bench", "replay-bench"]
switch Context.environment["WHITEBOARD_TOOLS"] {
case nil: package.targets.removeAll { (benchmarks + ["board-worlds"]).contains($0.name) }
case "worlds": package.targets.removeAll { benchmarks.contains($0.name) }
default: break
}

/// The layers, from the lowest to the highest, which are the folders of `Sources`.
///
/// A target may use only targets of its own layer and of lower layers; Tests/check-imports.py checks this.
let layers = [
  (
    "System",
    [
      "CAvahi", "CBrotli", "CCairo", "CChafa", "CMalloc", "CNats", "CQRCode", "CTerminal", "CTurboJPEG", "CVersion",
      "CWebP", "CWebPage", "CZlib",
    ]
  ),
  ("Network", ["PeerCore", "PeerWire", "PeerDiscovery", "AvahiDiscovery", "PeerSession", "RelayCluster"]),
  ("Board", ["Whiteboard", "WhiteboardSync", "WhiteboardDocument", "WhiteboardRendering", "WhiteboardPictures"]),
  ("Kit", ["SessionReplay", "WhiteboardKit", "WhiteboardDoctor", "CommandLines", "QRCode"]),
  ("FrontEnds", ["WhiteboardTerminal", "WhiteboardPrograms", "WhiteboardRelay", "WhiteboardWeb"]),
  ("Programs", ["whiteboard-peer", "whiteboard-relay", "whiteboard-replay"]),
]
for (layer, names) in layers {
  for target in package.targets where names.contains(target.name) { target.path = "Sources/\(layer)/\(target.name)" }
}

// Optimizing the code of the tests would take minutes and save seconds, except for a search that computes for minutes.
// Without the second flag, the compiler would check each of these modules twice.
for target in package.targets where target.type == .test && target.name != "MembershipWorldTests" {
  target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]
}
