/// What `wait` waits for.
package enum WaitCondition: Equatable, Sendable {
  /// At least so many other peers are connected; with zero, none is.
  case peers(Int)
  /// At least so many objects are on the board; with zero, none is.
  case objects(Int)
  /// Everything of ours has been acknowledged by every connected peer, and everything of theirs
  /// that we know of is here.
  case synced
  /// A time, in seconds.
  case seconds(Double)
}
