import Foundation
import WhiteboardDocument

extension Recording {
  /// Reads the recording in a file, or its intact data if the file is too damaged for ``open(_:)``.
  ///
  /// The file stays unchanged. The property `history.damages` of the result describes the lost data.
  ///
  /// - Throws: The errors of `BoardDocument`; `damaged` if no data is intact.
  public static func openOrSalvage(_ path: String) async throws(DocumentError) -> Recording {
    do throws(DocumentError) { return try await open(path) } catch {
      guard error.code == .damaged || error.code == .wrongKind || error.code == .inputOutput else { throw error }
      do throws(DocumentError) { return try await salvage(path, why: error.message) } catch let second {
        // The error from `open` is more informative than the error from `salvage`.
        throw second.code == .damaged || second.code == .wrongKind ? error : second
      }
    }
  }

  private static func salvage(_ path: String, why reason: String) async throws(DocumentError) -> Recording {
    let directory = FileManager.default.temporaryDirectory.path + "/salvage-" + UUID().uuidString
    do {
      try FileManager.default.createDirectory(
        atPath: directory,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
    } catch { throw DocumentError(.inputOutput, "the directory \(directory) cannot be created", cause: error) }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let copy = directory + "/salvaged.whiteboard"
    let report = try await BoardDocument.recover(
      from: path,
      to: copy,
      now: 0,
      locking: false,
      playing: RecordedBoard.self
    )
    let found = try await open(copy).history
    let losses = [reason] + report.losses.map { "lost: \($0)" }
    return try Recording(
      DocumentHistory(
        board: found.board,
        name: found.name,
        steps: found.steps,
        checks: found.checks,
        marks: found.marks,
        authors: found.authors,
        damages: losses.map { DocumentHistory.Damage(place: 0, words: $0) } + found.damages
      )
    )
  }
}
