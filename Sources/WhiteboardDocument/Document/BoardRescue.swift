import Foundation
import GRDB

/// The complete state of a board in memory, for saving the board if its file does not have the last changes.
public struct BoardRescue: Sendable {
  /// The state of the board, encoded as a keyframe.
  public let bytes: [UInt8]
  /// The digest of a board in this state.
  public let digest: [UInt8]
  /// The time of the state, in milliseconds since 1970.
  public let time: Int64
  /// The time from which changes are missing in the log; nil if none are missing.
  public let lostSince: Int64?
  /// The paths of the files of the board's photos, by SHA-256.
  public let photos: [[UInt8]: String]

  /// Creates the state of a board to be saved.
  ///
  /// - Parameters:
  ///   - bytes: The state, encoded as a keyframe.
  ///   - digest: The digest of a board in this state.
  ///   - time: The time of the state, milliseconds since 1970.
  ///   - lostSince: The time from which changes are missing in the log; nil if none are missing.
  ///   - photos: The paths of the files of the board's photos, by SHA-256.
  public init(bytes: [UInt8], digest: [UInt8], time: Int64, lostSince: Int64?, photos: [[UInt8]: String]) {
    self.bytes = bytes
    self.digest = digest
    self.time = time
    self.lostSince = lostSince
    self.photos = photos
  }
}

extension BoardRescue {
  /// Adds the missing photos and the state to a copy of the document, after its last row.
  func write(_ db: Database, _ tail: inout LogTail) throws {
    let stored = try StoredAssets.hashes(db)
    for (sha256, file) in photos where !stored.contains(sha256) {
      // Skip unreadable photos. A peer that opens the copy requests them from the other members.
      guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: file)), AssetHash.of(Array(bytes)) == sha256 else {
        continue
      }
      try StoredAssets.add(bytes, sha256: sha256, db)
    }
    if let lostSince { try LogWriter.append([.gap(from: min(lostSince, time), to: time)], db, &tail) }
    try LogWriter.keyframe(bytes, digest, nil, time, db, &tail)
  }
}
