import PeerSession

enum BoardRefusal: Equatable {
  /// The relay accepts only boards from allowed peers, and the host is not allowed.
  case notAllowed
  case noBoards
  case full(Int)
  /// There is room only for the operator and the allowed peers; the value is the number of boards reserved for them.
  case reserved(Int)
  case host(Int)
  case address(Int)
  /// A relay of the cluster deleted the board.
  case deleted

  var reason: String {
    switch self {
    case .notAllowed: "The settings of the relay do not allow this peer."
    case .noBoards: "The relay accepts no boards of other peers."
    case .full(let count): "The relay has \(count) boards and accepts no more."
    case .reserved(let count):
      "The relay reserves its last \(count) places for boards of its operator (reserved-boards). " + Self.remedy
    case .host(let count):
      "The relay has \(count) boards of this peer and accepts no more (max-boards-per-host). " + Self.remedy
    case .address(let count):
      "The relay has \(count) boards of peers at this address and accepts no more "
        + "(max-boards-per-address). \(Self.remedy)"
    case .deleted: "The board was deleted on a relay of the cluster."
    }
  }

  private static let remedy = "Ask its operator to allow your peer id."

  var label: String {
    switch self {
    case .notAllowed, .noBoards: "not-allowed"
    case .full: "full"
    case .reserved: "reserved"
    case .host: "host"
    case .address: "address"
    case .deleted: "deleted"
    }
  }
}

extension RelayConfiguration.Limits {
  /// The number of boards at which the relay stops accepting boards from hosts that are not on the allow list.
  var boardsForStrangers: Int { max(maximumBoards - (reservedBoards ?? maximumBoards / 10), 0) }

  func refusal(of host: PeerID, at address: String, among entries: [BoardRegister.Entry]) -> BoardRefusal? {
    switch boards {
    case .none: return .noBoards
    case .allowList where !allowed.contains(host): return .notAllowed
    case .allowList, .any: break
    }
    guard entries.count < maximumBoards else { return .full(maximumBoards) }
    guard !allowed.contains(host) else { return nil }
    guard entries.count < boardsForStrangers else { return .reserved(maximumBoards - boardsForStrangers) }
    let carriages = entries.compactMap(\.carriage)
    guard carriages.count(where: { $0.host == host.text }) < maximumBoardsPerHost else {
      return .host(maximumBoardsPerHost)
    }
    let atAddress = carriages.count { isStranger($0) && $0.address == address }
    return atAddress < maximumBoardsPerAddress ? nil : .address(maximumBoardsPerAddress)
  }

  /// A relay accepts all boards of the other relays of its cluster, up to its maximum.
  func refusalOfCluster(_ entries: [BoardRegister.Entry]) -> BoardRefusal? {
    entries.count < maximumBoards ? nil : .full(maximumBoards)
  }

  /// Returns the number of days that a board is kept without a visitor; `nil` if the board is kept forever.
  func retention(of entry: BoardRegister.Entry) -> Int? {
    guard !entry.isPinned else { return nil }
    switch retention {
    case .never: return nil
    case .days(let days): return days
    case .auto:
      // A board that the relay itself hosts belongs to the operator.
      guard boards == .any, let carriage = entry.carriage, isStranger(carriage) else { return nil }
      return BoardRetention.daysOfStrangers
    }
  }

  /// Returns whether the host of a board is a stranger: a peer that is not on the operator's list of allowed peers.
  private func isStranger(_ carriage: BoardRegister.RelayHosting) -> Bool {
    PeerID(text: carriage.host).map { !allowed.contains($0) } ?? true
  }
}
