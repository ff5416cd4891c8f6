// swift-tools-version: 6.2
import PackageDescription

// Programs that use the products of this package from outside, as any other package would.
let package = Package(
  name: "consumers",
  dependencies: [.package(name: "whiteboard", path: "../..")],
  targets: [
    .executableTarget(name: "bot", dependencies: [.product(name: "WhiteboardKit", package: "whiteboard")]),
    .executableTarget(
      name: "chat",
      dependencies: [
        .product(name: "PeerCore", package: "whiteboard"), .product(name: "PeerSession", package: "whiteboard"),
      ]
    ), .executableTarget(name: "shapes", dependencies: [.product(name: "Whiteboard", package: "whiteboard")]),
    .testTarget(
      name: "RecordingTests",
      dependencies: [
        .product(name: "SessionReplay", package: "whiteboard"), .product(name: "WhiteboardKit", package: "whiteboard"),
      ]
    ),
  ]
)
