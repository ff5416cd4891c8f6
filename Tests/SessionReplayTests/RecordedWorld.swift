import BoardWorlds
import Crypto
import Foundation
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// A test's own directory, which is removed with all its files.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "session-replay-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String = "board.whiteboard") -> String { path + "/" + name }
}

/// A session of several people on a board, and the document of one of them.
struct RecordedWorld {
  static let start: Int64 = 1_700_000_000_000

  let directory: TemporaryDirectory
  let path: String
  let digest: Bytes32

  /// Lets some replicas draw, and records one of them, with a step every tenth of a second; throws the errors of
  /// writing the document.
  ///
  /// There is a keyframe after each 40 changes, and a marker in the middle.
  init(
    seed: UInt64,
    steps: Int = 150,
    crashes: Int = 0,
    photo hasPhoto: Bool = false,
    copyingOpen copy: ((BoardDocument) async throws -> Void)? = nil
  ) async throws {
    directory = try TemporaryDirectory()
    path = directory.file()
    let world = ReplicaWorld(seed: seed, nodes: 3, weather: ReplicaWorld.Weather(crashes: crashes))
    world.connectAll()
    for _ in 0..<steps { world.happen() }
    let node = world.nodes[1]
    let changes = node.document
    digest = node.replica.digest
    let made = try await BoardDocument.create(
      at: path,
      board: ReplicaWorld.board.bytes,
      name: "world \(seed)",
      now: Self.start
    )
    try await made.close()
    let document = try await BoardDocument.open(at: path, mode: .writing, groupInterval: .zero)
    if hasPhoto {
      // The photo is larger than the data that SQLite leaves in the log, so later frames overwrite the start of the
      // log.
      let photo = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 9) }
      try await document.storeAsset(photo, sha256: Array(SHA256.hash(data: photo)))
    }
    var board = RestoredBoard(ReplicaWorld.board)
    for (index, change) in changes.enumerated() {
      let time = Self.start + Int64(index) * 100
      try board.apply(change)
      if case .keyframe(let bytes) = change {
        // A replica restored from a state lacks the operations before it.
        let digest = board.digest.bytes
        try await document.writeKeyframe(bytes, digest: digest, time: time, lostSince: time)
      }
      guard let entry = Self.entry(change, at: time) else { continue }
      try await document.append([entry])
      if index == changes.count / 2 { try await document.append([.marker(name: "middle", time: time)]) }
      guard index % 40 == 39 else { continue }
      let replica = world.replica(node.key, world.now(1))
      _ = try replica.restore(changes[...index], now: world.now(1))
      try await document.writeKeyframe(replica.snapshotForKeeping(), digest: board.digest.bytes, time: time)
    }
    try await copy?(document)
    try await document.close()
  }

  private static func entry(_ change: StoredChange, at time: Int64) -> DocumentEntry? {
    switch change {
    case .author(let record, let incarnation): .author(record: record, incarnation: incarnation.rawValue)
    case .batch(let encoded): .batch(bytes: encoded.bytes, time: time)
    case .answer(let bytes): .answer(bytes: bytes, time: time)
    case .head(let bytes, let incarnation, let sequence):
      .head(bytes: bytes, incarnation: incarnation.rawValue, sequence: sequence)
    case .keyframe: nil
    }
  }
}
