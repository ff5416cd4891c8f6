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
  mutating func set(_ board: SessionID, _ entry: Entry) throws(WhiteboardError) {
    var all = entries
    all[board] = entry
    try replace(all)
  }

  /// Removes the records that still have these values. Throws if the file cannot be written; the records are then
  /// unchanged.
  mutating func remove(_ published: [SessionID: Entry]) throws(WhiteboardError) {
    try replace(entries.filter { published[$0.key] != $0.value })
  }

  private mutating func replace(_ changed: [SessionID: Entry]) throws(WhiteboardError) {
    func saved(_ entries: [SessionID: Entry]) -> [String: SharedBoardRecord] {
      var records: [String: SharedBoardRecord] = [:]
      for (id, entry) in entries where !entry.isFirstOnly { records[id.text] = entry.record }
      return records
    }
    let records = saved(changed)
    if let file, records != saved(entries) {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      do { try file.replace(Array(encoder.encode(Form(records: records)))) } catch {
        throw WhiteboardError(.inputOutput, "the changes for the cluster cannot be saved: \(error)")
      }
    }
    entries = changed
  }
}
