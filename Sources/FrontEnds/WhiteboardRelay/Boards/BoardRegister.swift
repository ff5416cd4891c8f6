import FoundationEssentials
import PeerCore
import PeerSession
import WhiteboardKit

/// The list of boards that a relay serves, stored in `relay.json` in its data directory. The content of each board is
/// stored in its document. The register contains the data that only the relay needs.
package struct BoardRegister: Sendable {
  package struct Entry: Codable, Equatable, Sendable {
    package var board: String
    package var name: String
    /// Whether the board is kept even if no peer visits it.
    package var isPinned = false
    package var admission: String
    /// The join code; `nil` if the admission policy does not use a code.
    package var code: String?
    /// The salt of a board that this relay owns; `nil` for other hosts' boards and for open boards.
    package var salt: Data?
    package var carriage: RelayHosting?
    /// The time when the relay created or accepted the board, in milliseconds since 1970.
    package var since: Int64
    /// The time when a member was last on the board, in milliseconds since 1970.
    package var visited: Int64

    package var id: SessionID? { SessionID(text: board) }
  }

  package struct RelayHosting: Codable, Equatable, Sendable {
    package var host: String
    package var key: Data
    package var signature: Data
    /// The part of the host's address to which the limit on boards applies; `nil` in files from earlier versions.
    package var address: String?

    init(host: PeerID, _ grant: RelayGrant, address: String) {
      self.host = host.text
      self.address = address
      key = Data(grant.key)
      signature = Data(grant.signature)
    }

    var grant: RelayGrant { RelayGrant(key: Array(key), signature: Array(signature)) }
  }

  private struct Form: Codable {
    var version = 1
    var boards: [Entry]
  }

  private static let maximumSize = 8 << 20

  private let file: PrivateFile
  /// Sorted by the time when the relay created or accepted the boards.
  package private(set) var entries: [Entry] = []

  /// If there is no file, the register is empty. Throws if the file cannot be read or decoded; the file stays
  /// unchanged.
  package init(inDataDirectory directory: String) throws(WhiteboardError) {
    file = PrivateFile(path: directory + "/relay.json")
    do {
      guard let bytes = try file.read(limit: Self.maximumSize) else { return }
      let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
      guard form.version == 1 else {
        throw WhiteboardError(.badData, "a newer version of this program wrote \(file.path)")
      }
      entries = form.boards
    } catch let error as WhiteboardError { throw error } catch let error as PrivateFile.Failure {
      throw WhiteboardError(.inputOutput, "\(error)")
    } catch {
      throw WhiteboardError(
        .badData,
        "\(file.path) is damaged: repair it, or move it somewhere else and create its "
          + "boards again with `whiteboard-relay boards create`"
      )
    }
  }

  package subscript(_ board: SessionID) -> Entry? {
    // Decoding the id of each entry takes much longer than comparing the texts.
    let text = board.text
    return entries.first { $0.board == text } ?? entries.first { $0.id == board }
  }

  /// Finds a board by its name, its id, or at least the first four characters of its id.
  package func entry(_ meant: String) throws(WhiteboardError) -> Entry {
    guard !meant.isEmpty else { throw WhiteboardError(.usage, "give the name or id of a board") }
    let named = entries.filter { $0.name == meant }
    // Require four characters, so that the short name of a deleted board does not match another board's id by accident.
    let begun = meant.utf8.count < 4 ? [] : entries.filter { $0.board.hasPrefix(meant) }
    let found = named.isEmpty ? begun : named
    guard let first = found.first else {
      throw WhiteboardError(.noInput, "there is no such board; `whiteboard-relay boards` lists them")
    }
    guard found.count == 1 else {
      let ids = found.map { String($0.board.prefix(8)) }.joined(separator: ", ")
      throw WhiteboardError(.usage, "several boards match; give the id of one: \(ids)")
    }
    return first
  }

  package mutating func set(_ entry: Entry) throws(WhiteboardError) { try set([entry]) }

  /// Throws if the file cannot be written; the register is then unchanged.
  package mutating func set(_ changed: [Entry]) throws(WhiteboardError) {
    var all = entries
    for entry in changed {
      if let index = all.firstIndex(where: { $0.board == entry.board }) {
        all[index] = entry
      } else {
        all.append(entry)
      }
    }
    try keep(all)
  }

  /// Throws if the file cannot be written; the register is then unchanged.
  package mutating func remove(_ board: SessionID) throws(WhiteboardError) {
    try keep(entries.filter { $0.id != board })
  }

  private mutating func keep(_ changed: [Entry]) throws(WhiteboardError) {
    guard changed != entries else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      // The file contains join codes, so it must be private from the moment it is created.
      try file.replace(Array(encoder.encode(Form(boards: changed))))
    } catch { throw WhiteboardError(.inputOutput, "the list of boards cannot be saved: \(error)") }
    entries = changed
  }
}

struct ServedBoard {
  enum State {
    case opening, serving
    /// The board cannot be served, for the given reason. Its file is unchanged.
    case failed(WhiteboardError)
  }

  let name: String
  /// Whether this relay is the host of the board.
  let isHosted: Bool
  let sharedBoard: SharedBoard
  var state = State.opening
  var isOpening: Bool { if case .opening = state { true } else { false } }
  var link = ""
  var webLink: String?
  var people: [String: UntrustedText] = [:]
  /// The time at which a member last left, in milliseconds since 1970.
  var visited: Int64?
  /// The reason why some changes are not on disk; `nil` if all changes are on disk. While there is such a problem, the
  /// board is served from memory.
  var unsaved: SaveProblem?
  /// The refused messages that are already included in the metrics, by reason.
  var refused = (viewer: 0, revoked: 0)
  /// The relayed messages that are already included in the metrics.
  var passed = RelayTally()
  var problem: WhiteboardError?
  /// The relays of the cluster that keep this board too.
  var keepers: Set<PeerID> = []
  /// The relays that did not accept this board when they were asked last, with their reasons.
  var refusals: [PeerID: String] = [:]
}

package struct BoardReport: Codable, Equatable, Sendable {
  package let board: String
  package let name: UntrustedText
  /// The state: `opening`, `serving` or `failed`; in the answer to `delete`, the state is `deleted`.
  package let state: String
  /// The reason why the board cannot be served, or why some changes are not on disk.
  package let problem: String?
  package let isPinned: Bool
  /// Whether the board has an owner that decides which peers can edit it.
  package let isOwned: Bool
  package let admit: String
  package let link: String?
  package let webLink: String?
  package let people: [UntrustedText]
  package let since: String
  package let visited: String
}

extension [SaveProblem.Cause] {
  func sentence(boards count: Int) -> String {
    let words = Set(self).map(\.words).sorted().joined(separator: ", ")
    return "NOT SAVED: \(words) (\(count == 1 ? "1 board" : "\(count) boards"))"
  }
}
