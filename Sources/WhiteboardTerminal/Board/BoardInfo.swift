/// The name of the board, and how others join it.
struct BoardInfo: Hashable, Sendable {
  var id = ""
  /// The title of the board; its own name if it has no title.
  private(set) var name = ""
  /// The board's own name, which is shown if it has no title.
  private var plainName = ""
  /// The join link of the board; empty while the board is offline.
  var link = ""
  var joinCode: String?
  /// Whether discovery shows the board to peers on this network.
  var isAnnounced = false
  /// Whether discovery does not work on this computer.
  var isDiscoveryUnavailable = false
  /// Whether the local user joins this board and its contents have not arrived yet.
  var isAwaited = false

  /// Sets the name that the board has without a title.
  mutating func setName(_ name: String) {
    plainName = name
    self.name = name
  }

  /// Sets the title.
  ///
  /// If the title is nil or empty, for example after an undo, the board has its own name again.
  mutating func setTitle(_ title: String?) {
    name = title.flatMap { $0.isEmpty ? nil : $0 } ?? plainName
  }
}
