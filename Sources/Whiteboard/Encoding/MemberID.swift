import PeerCore

/// The id of a member: the 32 bytes of its peer id, which the board does not interpret.
public struct MemberID: Identifier, Comparable {
  /// The 32 bytes.
  public let value: Bytes32

  /// Creates an id from its bytes.
  public init(_ value: Bytes32) { self.value = value }

  /// Compares two ids byte by byte.
  public static func < (left: MemberID, right: MemberID) -> Bool { left.value < right.value }
}
