/// The role that the owner of a board gives a member.
public enum BoardRole: String, CaseIterable, Sendable {
  /// A member that can change the board.
  case editor
  /// A member that can only view the board.
  case viewer
}

/// The games, by their names in commands.
public enum GameName: String, CaseIterable, Sendable {
  /// A game for everyone: guess a word of five letters.
  case wordle
  /// A game for two: four in a row.
  case connectFour = "connect-four"
}

/// A setting of the board with its new value.
public enum Setting: Equatable, Sendable {
  /// The title of the board.
  case title(String)
  /// The background color, `0xRRGGBBAA`; nil for the viewer's own color.
  case background(UInt32?)
  /// The grid spacing, in board units; zero for no grid.
  case grid(Double)
  /// The language of games, as a BCP 47 tag.
  case language(String)
}

/// The condition of `wait`.
public enum WaitCondition: Equatable, Sendable {
  /// At least this number of other peers is connected. Zero means that no other peer is connected.
  case peers(Int)
  /// At least this number of objects is on the board. Zero means that the board is empty.
  case objects(Int)
  /// Every connected member has the same board as the local peer, and at least one is connected.
  case synced
  /// A number of seconds has passed.
  case seconds(Double)
}

/// A change to the access that browsers have to a board.
public enum WebAccess: String, CaseIterable, Equatable, Sendable {
  /// Browsers with a browser link can join.
  case on
  /// All guests are disconnected, and no browser can join.
  case off
  /// All browser links are revoked, and the guests that joined with them are removed.
  case revoke
}
