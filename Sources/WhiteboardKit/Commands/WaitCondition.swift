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
