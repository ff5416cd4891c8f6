import FoundationEssentials
import PeerSession
import WhiteboardKit

/// The shared values that a relay has not stored in its cluster yet, by board. They are saved in `cluster.json` in its
/// data directory, except for those that the relay can derive from its list of boards.
struct UnpublishedRecords {
  struct Entry: Equatable {
    var record: SharedBoardRecord
    /// Whether the record is stored only if the cluster has no value for the board. Such a record is not saved.
    var isFirstOnly = false
  }

  private struct Form: Codable {
    var version = 1
    var records: [String: SharedBoardRecord]
  }

  private static let maximumSize = 8 << 20

  private let file: PrivateFile?
  private(set) var entries: [SessionID: Entry] = [:]

  /// The records of a relay that belongs to no cluster.
  init() { file = nil }

  /// If there is no file, there are no records. Throws if the file cannot be read or decoded; the file stays unchanged.
  init(inDataDirectory directory: String) throws(WhiteboardError) {
    let file = PrivateFile(path: directory + "/cluster.json")
    self.file = file
    do {
      guard let bytes = try file.read(limit: Self.maximumSize) else { return }
      let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
      guard form.version == 1 else {
        throw WhiteboardError(.badData, "a newer version of this program wrote \(file.path)")
      }
      for (text, record) in form.records {
        if let id = SessionID(text: text) { entries[id] = Entry(record: record) }
      }
    } catch let error as WhiteboardError { throw error } catch let error as PrivateFile.Failure {
      throw WhiteboardError(.inputOutput, "\(error)")
    } catch {
      throw WhiteboardError(
        .badData,
        "\(file.path) is damaged: move it somewhere else. If boards were deleted here while the NATS servers could not be "
          + "reached, delete them on another relay of the cluster too"
      )
    }
  }

  subscript(_ board: SessionID) -> Entry? { entries[board] }

  /// Throws if the file cannot be written; the records are then unchanged.
  mutating func set(_ board: SessionID, _ entry: Entry) throws(WhiteboardError) { try replace(board, entry) }

  /// Removes a record, unless it was replaced by another one. Throws if the file cannot be written; the records are then
  /// unchanged.
  mutating func remove(_ board: SessionID, ifStill entry: Entry) throws(WhiteboardError) {
    if entries[board] == entry { try replace(board, nil) }
  }

  private mutating func replace(_ board: SessionID, _ entry: Entry?) throws(WhiteboardError) {
    guard let file, entry?.isFirstOnly == false || entries[board]?.isFirstOnly == false else {
      entries[board] = entry
      return
    }
    var changed = entries
    changed[board] = entry
    var records: [String: SharedBoardRecord] = [:]
    for (id, entry) in changed where !entry.isFirstOnly { records[id.text] = entry.record }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do { try file.replace(Array(encoder.encode(Form(records: records)))) } catch {
      throw WhiteboardError(.inputOutput, "the changes for the cluster cannot be saved: \(error)")
    }
    entries = changed
  }
}
