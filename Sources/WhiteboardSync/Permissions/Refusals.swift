/// The numbers of changes that were refused, by reason.
public struct Refusals: Hashable, Sendable {
  /// The number of refused changes from viewers.
  public internal(set) var viewer = 0
  /// The number of refused batches and answers from members whose rights were revoked.
  public internal(set) var revoked = 0

  /// No refusals.
  public init() {}
}
