import FoundationEssentials
import PeerSession
import WhiteboardNode

/// Which boards a relay serves, and on what terms: the file `relay.json` of its data directory.
///
/// The boards themselves are in their documents; what is here is what only a relay knows of them.
package struct BoardRegister: Sendable {
  /// The entry of a board that the relay serves.
  package struct Entry: Codable, Equatable, Sendable {
    /// The board's id, 26 characters.
    package var board: String
    /// Its name, as it was when it came.
    package var name: String
    /// Whether it stays however long nobody visits it.
    package var isPinned = false
    /// The admission policy.
    package var admission: String
    /// The words that let people in, where they are needed.
    package var code: String?
    /// The salt of a board that this relay owns; nil for boards of other hosts and open boards.
    package var salt: Data?
    /// The host and its grant, if the board is not this relay's own.
    package var carriage: RelayHosting?
    /// When it came, milliseconds since 1970.
    package var since: Int64
    /// When somebody was on it last, milliseconds since 1970.
    package var visited: Int64

    /// Its id as the session knows it, nil if the file is wrong.
    package var id: SessionID? { SessionID(text: board) }
  }

  /// The data that lets a relay serve a board of another host.
  package struct RelayHosting: Codable, Equatable, Sendable {
    /// The host's peer id.
    package var host: String
    /// The host's key, in base64.
    package var key: Data
    /// The host's signature, in base64.
    package var signature: Data
    /// The part of the host's address that limits count by; nil in files of earlier versions.
    package var address: String?

    /// Takes what a host gave us.
    init(host: PeerID, _ grant: RelayGrant, address: String) {
      self.host = host.text
      self.address = address
      key = Data(grant.key)
      signature = Data(grant.signature)
    }

    /// The grant of the host.
    var grant: RelayGrant { RelayGrant(key: Array(key), signature: Array(signature)) }
  }

  private struct Form: Codable {
    var version = 1
    var boards: [Entry]
  }

  private static let maximumSize = 8 << 20

  private let file: PrivateFile
  /// The boards, in the order in which they came.
  package private(set) var entries: [Entry] = []

  /// Reads the file; one that is not there is empty.
  ///
  /// - Throws: ``NodeError`` if it cannot be read or understood; nothing is lost.
  package init(inDataDirectory directory: String) throws(NodeError) {
    file = PrivateFile(path: directory + "/relay.json")
    do {
      guard let bytes = try file.read(limit: Self.maximumSize) else { return }
      let form = try JSONDecoder().decode(Form.self, from: Data(bytes))
      guard form.version == 1 else {
        throw NodeError(.badData, "\(file.path) is of a newer version of this program")
      }
      entries = form.boards
    } catch let error as NodeError {
      throw error
    } catch let error as PrivateFile.Failure {
      throw NodeError(.inputOutput, "\(error)")
    } catch {
      throw NodeError(
        .badData,
        "\(file.path) is damaged: repair it, or move it away and make its boards "
          + "known again with `whiteboard-relay boards create`"
      )
    }
  }

  /// The entry of a board, nil if there is none.
  package subscript(_ board: SessionID) -> Entry? { entries.first { $0.id == board } }

  /// The entry of the board that an operator means.
  ///
  /// - Parameter meant: The name of the board, its id or at least four characters of its beginning.
  /// - Returns: The entry.
  /// - Throws: ``NodeError`` if there is none, or several.
  package func entry(_ meant: String) throws(NodeError) -> Entry {
    guard !meant.isEmpty else { throw NodeError(.usage, "say which board") }
    let named = entries.filter { $0.name == meant }
    // What is no name any more must not be the beginning of another's id by accident.
    let begun = meant.utf8.count < 4 ? [] : entries.filter { $0.board.hasPrefix(meant) }
    let found = named.isEmpty ? begun : named
    guard let first = found.first else {
      throw NodeError(.noInput, "there is no such board; `whiteboard-relay boards` lists them")
    }
    guard found.count == 1 else {
      let ids = found.map { String($0.board.prefix(8)) }.joined(separator: ", ")
      throw NodeError(.usage, "several boards are called so: say the id of one, \(ids)")
    }
    return first
  }

  /// Replaces the entry of a board.
  ///
  /// - Throws: ``NodeError`` if the file cannot be written; then nothing changes.
  package mutating func set(_ entry: Entry) throws(NodeError) { try set([entry]) }

  /// Keeps entries in place of those that their boards had.
  ///
  /// - Throws: ``NodeError`` if the file cannot be written; then nothing changes.
  package mutating func set(_ changed: [Entry]) throws(NodeError) {
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

  /// Forgets a board.
  ///
  /// - Throws: ``NodeError`` if the file cannot be written; then nothing changes.
  package mutating func remove(_ board: SessionID) throws(NodeError) {
    try keep(entries.filter { $0.id != board })
  }

  private mutating func keep(_ changed: [Entry]) throws(NodeError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      // The file holds codes, so it must be private from the start.
      try file.replace(Array(encoder.encode(Form(boards: changed))))
    } catch {
      throw NodeError(.inputOutput, "the boards that are served cannot be noted: \(error)")
    }
    entries = changed
  }
}
