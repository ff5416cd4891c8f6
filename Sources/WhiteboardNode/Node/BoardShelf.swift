import FoundationEssentials

/// The boards that were made here, so that a board hosted again under its name keeps its id and the
/// links to it stay good.
struct BoardShelf: Sendable {
  /// One board.
  struct Board: Codable, Equatable, Sendable {
    /// The id, 26 base32 characters.
    var id: String
    /// The name.
    var name: String
  }

  private struct File: Codable {
    var v: Int
    var boards: [Board]
  }

  private let path: String

  /// The most boards that are remembered; the oldest is forgotten first.
  static let capacity = 4_096

  /// Uses `boards.json` in the directory, which must exist.
  init(directory: String) {
    path = directory + "/boards.json"
  }

  /// The board of that name, made with `newID` where there is none yet.
  ///
  /// - Throws: ``NodeError`` when the file is damaged or cannot be written.
  func board(named name: String, newID: () -> String) throws(NodeError) -> Board {
    var boards = try read()
    if let known = boards.first(where: { $0.name == name }) {
      return known
    }
    let board = Board(id: newID(), name: name)
    boards.append(board)
    try write(Array(boards.suffix(BoardShelf.capacity)))
    return board
  }

  private func read() throws(NodeError) -> [Board] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    do {
      let data = try Data(contentsOf: URL(fileURLWithPath: path))
      let file = try JSONDecoder().decode(File.self, from: data)
      guard file.v == 1, file.boards.allSatisfy({ BoardLink.isBase32($0.id, count: 26) }) else {
        throw NodeError(.badConfiguration, "")
      }
      return file.boards
    } catch {
      throw NodeError(
        .badConfiguration,
        "\(path) is damaged; move it away to begin a new list of boards"
      )
    }
  }

  private func write(_ boards: [Board]) throws(NodeError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      let data = try encoder.encode(File(v: 1, boards: boards))
      try data.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      throw NodeError(.cannotCreate, "\(path) cannot be written")
    }
  }
}
