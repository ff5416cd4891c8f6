/// The condition of `wait`.
package enum WaitCondition: Equatable, Sendable {
  /// At least so many other peers are connected; with zero, none is.
  case peers(Int)
  /// At least so many objects are on the board; with zero, none is.
  case objects(Int)
  /// Every connected member has the board that is here now, and at least one is connected.
  case synced
  /// A time, in seconds.
  case seconds(Double)
}
