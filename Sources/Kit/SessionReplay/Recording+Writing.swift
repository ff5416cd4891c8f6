import Foundation
import WhiteboardDocument
import WhiteboardSync

extension Recording {
  /// Writes the recording to a new file.
  ///
  /// The file contains the digest of the board at each position where the recording has a digest, and at its end. Steps
  /// that cannot be applied are written unchanged.
  ///
  /// - Parameters:
  ///   - path: The file, which must not exist yet. If writing fails, the file is removed.
  ///   - assets: The photos to store, by their SHA-256.
  /// - Throws: `exists`, `full`, `readOnly`, `inputOutput`; `badName` if the name of the board or of a marker is
  ///   invalid.
  /// - Complexity: O(n).
  public func write(to path: String, assets: [[UInt8]: [UInt8]] = [:]) async throws(DocumentError) {
    let document = try await BoardDocument.create(
      at: path,
      board: board.bytes,
      name: Self.boardName(history.name),
      now: start ?? 0
    )
    do throws(DocumentError) {
      for (sha256, bytes) in assets { try await document.storeAsset(bytes, sha256: sha256) }
      try await write(to: document)
      try await document.close()
    } catch {
      try? await document.close()
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
      throw error
    }
  }

  /// A file from another source may contain an invalid name.
  private static func boardName(_ name: String) -> String {
    let kept = name.utf8.count <= 128 ? name : String(name.prefix(32))
    return kept.isEmpty || kept.utf8.count > 128 || kept.utf8.contains(0) ? "board" : kept
  }

  private func write(to document: BoardDocument) async throws(DocumentError) {
    var playback = Playback(self, spacing: .max)
    var entries: [DocumentEntry] = []
    for author in history.authors {
      let incarnation = author.incarnation
      if !author.record.isEmpty { entries.append(.author(record: author.record, incarnation: incarnation)) }
      if !author.head.isEmpty {
        entries.append(.head(bytes: author.head, incarnation: incarnation, sequence: author.sequence))
      }
    }
    for (person, name) in history.names.sorted(by: { $0.key < $1.key }) { entries.append(.name(name, of: person)) }
    entries += history.traffic.map { .traffic($0) }
    var (checks, marks) = (history.checks[...], history.marks[...])
    // Damaged data is not written to the new file. Instead, its time becomes a gap.
    var damages = history.damages.map(\.place)[...]
    var lastGap: Int?
    var lastCheck: Int?
    func passed(_ place: Int) async throws(DocumentError) {
      while let mark = marks.first, mark.place <= place {
        marks.removeFirst()
        if let name = mark.name {
          entries.append(.marker(name: name, time: mark.time))
        } else {
          entries.append(.gap(from: mark.time, to: mark.until))
          lastGap = place
        }
      }
      while let damage = damages.first, damage <= place {
        damages.removeFirst()
        guard lastGap != damage else { continue }
        let around = max(0, damage - 1)..<min(damage + 1, history.steps.count)
        let times = history.steps[around].map(\.time)
        entries.append(.gap(from: times.first ?? start ?? 0, to: times.last ?? start ?? 0))
        lastGap = damage
      }
      while let check = checks.first, check.place <= place {
        checks.removeFirst()
        // One keyframe after each step is enough.
        guard check.name != nil || lastCheck != check.place else { continue }
        lastCheck = check.place
        try await keyframe(check.time, name: check.name)
      }
    }
    func keyframe(_ time: Int64, name: String? = nil) async throws(DocumentError) {
      try await document.append(entries)
      entries = []
      let (bytes, digest) = (playback.board.keyframe, playback.board.digest.bytes)
      if playback.board.hasRetirements { try await document.markRetirements() }
      if let name {
        try await document.checkpoint(name: name, bytes: bytes, digest: digest, time: time)
      } else {
        try await document.writeKeyframe(bytes, digest: digest, time: time)
      }
    }
    for (place, step) in history.steps.enumerated() {
      // Write the entries that come before the step, including digests after the previous step.
      try await passed(place)
      playback.step()
      switch step.content {
      case .batch(let bytes): entries.append(.batch(bytes: bytes, time: step.time))
      case .answer(let bytes): entries.append(.answer(bytes: bytes, time: step.time))
      case .keyframe:
        // A reader loads a keyframe only after a gap.
        if lastGap != place { entries.append(.gap(from: step.time, to: step.time)) }
        try await keyframe(step.time)
        while let check = checks.first, check.place == place + 1, check.name == nil { checks.removeFirst() }
      }
      if entries.count >= 1024 {
        try await document.append(entries)
        entries = []
      }
    }
    try await passed(.max)
    try await document.append(entries)
    entries = []
    if await document.hasEntriesSinceKeyframe { try await keyframe(history.steps.last?.time ?? 0) }
    if let end = history.end { try await document.append([.end(time: end)]) }
  }
}
