import PeerSession

/// The reason why a relay does not take a board of another host.
enum BoardRefusal: Equatable {
  /// The relay takes boards of some peers, and not of this one.
  case notAllowed
  /// The relay takes no boards of other peers.
  case noBoards
  /// The relay has so many boards, and room for no other.
  case full(Int)
  /// The remaining places are for the operator.
  case reserved(Int)
  /// The host has so many boards here.
  case host(Int)
  /// The hosts at the address have so many boards here.
  case address(Int)

  /// The sentences that the host gets: the limit and the remedy, short enough for a few lines.
  var reason: String {
    switch self {
    case .notAllowed: "The settings of the relay do not allow this peer."
    case .noBoards: "The relay accepts no boards of other peers."
    case .full(let count): "The relay has \(count) boards and accepts no more."
    case .reserved(let count):
      "The relay keeps its last \(count) places for boards of its operator (reserved-boards). "
        + Self.remedy
    case .host(let count):
      "The relay has \(count) boards of this peer and accepts no more (max-boards-per-host). "
        + Self.remedy
    case .address(let count):
      "The relay has \(count) boards of peers at this address and accepts no more "
        + "(max-boards-per-address). \(Self.remedy)"
    }
  }

  private static let remedy = "Ask its operator to allow your peer id."

  /// The reason as a label of a metric.
  var label: String {
    switch self {
    case .notAllowed, .noBoards: "not-allowed"
    case .full: "full"
    case .reserved: "reserved"
    case .host: "host"
    case .address: "address"
    }
  }
}

extension RelayConfiguration.Limits {
  /// The number of boards from which on strangers get no place.
  var boardsForStrangers: Int {
    max(maximumBoards - (reservedBoards ?? maximumBoards / 10), 0)
  }

  /// Returns the reason why no further board of a host is taken.
  ///
  /// - Parameters:
  ///   - host: The host; its key is proved.
  ///   - address: The part of its address that limits count by.
  ///   - entries: The boards that the relay has.
  /// - Returns: The reason; nil if the board is taken.
  func refusal(
    of host: PeerID,
    at address: String,
    among entries: [BoardRegister.Entry]
  ) -> BoardRefusal? {
    switch boards {
    case .none: return .noBoards
    case .allowList where !allowed.contains(host): return .notAllowed
    case .allowList, .any: break
    }
    guard entries.count < maximumBoards else { return .full(maximumBoards) }
    guard !allowed.contains(host) else { return nil }
    guard entries.count < boardsForStrangers else {
      return .reserved(maximumBoards - boardsForStrangers)
    }
    let carriages = entries.compactMap(\.carriage)
    guard carriages.count(where: { $0.host == host.text }) < maximumBoardsPerHost else {
      return .host(maximumBoardsPerHost)
    }
    let atAddress = carriages.count { isStranger($0) && $0.address == address }
    return atAddress < maximumBoardsPerAddress ? nil : .address(maximumBoardsPerAddress)
  }

  /// Returns how many days a board stays without a visitor.
  ///
  /// - Parameter entry: The board.
  /// - Returns: The days; nil if it stays.
  func retention(of entry: BoardRegister.Entry) -> Int? {
    guard !entry.isPinned else { return nil }
    switch retention {
    case .never: return nil
    case .days(let days): return days
    case .auto:
      // A board of the relay's own is the operator's.
      guard boards == .any, let carriage = entry.carriage, isStranger(carriage) else { return nil }
      return BoardRetention.daysOfStrangers
    }
  }

  /// Whether the operator did not name the host of a board.
  private func isStranger(_ carriage: BoardRegister.RelayHosting) -> Bool {
    PeerID(text: carriage.host).map { !allowed.contains($0) } ?? true
  }
}
