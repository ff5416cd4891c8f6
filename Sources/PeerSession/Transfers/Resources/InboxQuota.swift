/// The storage quotas of an inbox (RES-9).
struct InboxQuota: Sendable {
  /// The parties that have a quota.
  enum Holder: String, Sendable {
    /// One peer.
    case peer = "one peer"
    /// One session.
    case session = "one session"
    /// All peers and sessions together.
    case total = "everyone"
  }

  /// The maximum total size of all resources, in bytes.
  var total: Int
  /// The maximum total size of one session's resources, in bytes.
  var session: Int
  /// The maximum total size of one peer's resources, in bytes.
  var peer: Int
  /// The number of bytes that must stay free on the disk.
  var diskReserve: Int

  /// Creates quotas; by default, a session has half of the total and a peer a quarter.
  init(total: Int, session: Int? = nil, peer: Int? = nil, diskReserve: Int = 256 << 20) {
    self.total = total
    self.session = session ?? total / 2
    self.peer = peer ?? total / 4
    self.diskReserve = diskReserve
  }

  /// Returns the number of bytes that must stay free on a disk: the reserve, but at most 2 % of the disk's size.
  func reserve(ofDisk size: Int?) -> Int { min(diskReserve, (size ?? .max) / 50) }

  /// Returns the error for a resource that exceeds a quota.
  func error(_ holder: Holder) -> SessionError {
    let limit =
      switch holder {
      case .peer: peer
      case .session: session
      case .total: total
      }
    return SessionError(
      .quota,
      "The inbox takes at most \(limit) bytes from \(holder.rawValue), and the file would exceed this. "
        + "The inbox-quota of the receiver (\(total) bytes) sets the limit."
    )
  }
}
