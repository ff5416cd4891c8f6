/// The condition of `wait`.
public enum WaitCondition: Equatable, Sendable {
  /// At least this number of other peers is connected; zero means none.
  case peers(Int)
  /// At least this number of objects is on the board; zero means none.
  case objects(Int)
  /// Every connected member has the same board as the local peer, and at least one is connected.
  case synced
  /// A time has passed, in seconds.
  case seconds(Double)
}
