public import PeerDiscovery

/// Reads the events of a browser and waits for the one that a test expects.
public final class BrowserProbe {
  private var iterator: DiscoveryEvents<BrowserEvent>.Iterator
  /// Every event so far.
  public private(set) var history: [BrowserEvent] = []

  /// Begins to read.
  public init(_ events: DiscoveryEvents<BrowserEvent>) { iterator = events.makeAsyncIterator() }

  /// The next event, whatever it is.
  nonisolated(nonsending) public func next(_ expected: String) async throws -> BrowserEvent {
    guard let event = await iterator.next(isolation: #isolation) else {
      throw DiscoveryContractFailure("the events ended at \(expected); before: \(history)")
    }
    history.append(event)
    return event
  }

  /// The next event about a peer, passing over those about the system.
  nonisolated(nonsending) public func nextAboutPeer(_ expected: String) async throws -> BrowserEvent
  {
    while true {
      let event = try await next(expected)
      switch event {
      case .available, .unavailable: continue
      case .found, .updated, .lost: return event
      }
    }
  }

  /// Waits for `found`; any other event about a peer is a failure.
  nonisolated(nonsending) public func found() async throws -> DiscoveredPeer {
    let event = try await nextAboutPeer("found")
    guard case .found(let peer) = event else {
      throw DiscoveryContractFailure("expected found, got \(event)")
    }
    return peer
  }

  /// Waits for an `updated` that is as wanted, passing over others; `lost` is a failure.
  nonisolated(nonsending) public func updated(
    _ expected: String,
    where isWanted: (DiscoveredPeer) -> Bool
  ) async throws -> DiscoveredPeer {
    while true {
      let event = try await nextAboutPeer("updated: \(expected)")
      guard case .updated(let peer) = event else {
        throw DiscoveryContractFailure("expected updated (\(expected)), got \(event)")
      }
      if isWanted(peer) { return peer }
    }
  }

  /// Waits for `lost`, passing over updates; `found` is a failure.
  nonisolated(nonsending) public func lost() async throws -> DiscoveredPeer {
    while true {
      let event = try await nextAboutPeer("lost")
      switch event {
      case .lost(let peer): return peer
      case .updated: continue
      default: throw DiscoveryContractFailure("expected lost, got \(event)")
      }
    }
  }

  /// Waits until the discovery system is there.
  nonisolated(nonsending) public func available() async throws {
    while try await next("available") != .available {}
  }

  /// Waits until the discovery system is away for this reason.
  nonisolated(nonsending) public func unavailable(_ problem: DiscoveryProblem) async throws {
    while try await next("unavailable(\(problem))") != .unavailable(problem) {}
  }
}

/// Reads the events of an advertiser and waits for the one that a test expects.
public final class AdvertiserProbe {
  private var iterator: DiscoveryEvents<AdvertiserEvent>.Iterator
  /// Every event so far.
  public private(set) var history: [AdvertiserEvent] = []

  /// Begins to read.
  public init(_ events: DiscoveryEvents<AdvertiserEvent>) { iterator = events.makeAsyncIterator() }

  /// The next event, whatever it is.
  nonisolated(nonsending) public func next(_ expected: String) async throws -> AdvertiserEvent {
    guard let event = await iterator.next(isolation: #isolation) else {
      throw DiscoveryContractFailure("the events ended at \(expected); before: \(history)")
    }
    history.append(event)
    return event
  }

  /// Waits until others can find us, and returns under what name.
  nonisolated(nonsending) public func announced() async throws -> InstanceName {
    while true {
      if case .announced(let name) = try await next("announced") { return name }
    }
  }

  /// Waits until another name was taken.
  nonisolated(nonsending) public func renamed() async throws -> (
    from: InstanceName, to: InstanceName
  ) {
    while true {
      if case .renamed(let from, let to) = try await next("renamed") { return (from, to) }
    }
  }

  /// Waits until the discovery system is away for this reason.
  nonisolated(nonsending) public func unavailable(_ problem: DiscoveryProblem) async throws {
    while try await next("unavailable(\(problem))") != .unavailable(problem) {}
  }
}

/// Announcements that tests make, told apart by small numbers.
public enum DiscoverySamples {
  /// The peer with this number.
  public static func peer(_ number: UInt8) -> AnnouncedPeerID {
    AnnouncedPeerID(checked: [number] + [UInt8](repeating: 0xa5, count: 31))
  }

  /// The session with this number.
  public static func session(_ number: UInt8) -> AnnouncedSessionID {
    AnnouncedSessionID(checked: [number] + [UInt8](repeating: 0x3c, count: 15))
  }

  /// What that peer announces of that session.
  public static func announcement(
    peer: UInt8,
    session: UInt8 = 1,
    incarnation: UInt64 = 1,
    role: Announcement.Role = .member,
    board: String = "Board",
    host: String = "Host",
    participants: UInt16? = 1
  ) -> Announcement {
    Announcement(
      peer: self.peer(peer),
      session: self.session(session),
      incarnation: AnnouncedIncarnation(incarnation),
      role: role,
      boardName: board,
      hostName: host,
      participants: participants
    )
  }
}
