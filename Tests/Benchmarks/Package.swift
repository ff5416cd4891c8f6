// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the library do not resolve the dependencies of the benchmarks.
let package = Package(
  name: "benchmarks",
  dependencies: [
    .package(name: "whiteboard", path: "../.."), .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  ],
  targets: [
    .executableTarget(
      name: "board-bench",
      dependencies: [
        .product(name: "Whiteboard", package: "whiteboard"), .product(name: "WhiteboardSync", package: "whiteboard"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "session-bench",
      dependencies: [
        .product(name: "Logging", package: "swift-log"), .product(name: "PeerSession", package: "whiteboard"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "nio-bench",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]
    ),
    .executableTarget(
      name: "document-bench",
      dependencies: [
        .product(name: "Whiteboard", package: "whiteboard"),
        .product(name: "WhiteboardDocument", package: "whiteboard"),
        .product(name: "WhiteboardSync", package: "whiteboard"),
      ],
      swiftSettings: [.enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error)]
    ),
  ],
  swiftLanguageModes: [.v6]
)
