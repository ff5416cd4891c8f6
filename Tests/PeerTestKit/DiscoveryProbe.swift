public import PeerDiscovery

/// Reads the events of a browser and waits for the event that a test expects.
public final class BrowserProbe {
  private var iterator: DiscoveryEvents<BrowserEvent>.Iterator
  /// All events read so far.
  public private(set) var history: [BrowserEvent] = []

  /// Creates a probe that reads `events`.
  public init(_ events: DiscoveryEvents<BrowserEvent>) { iterator = events.makeAsyncIterator() }

  /// Returns the next event of any kind.
  ///
  /// - Parameter expected: The expected event, for the error message.
  /// - Returns: The event.
  /// - Throws: `DiscoveryContractFailure` if the events have ended.
  nonisolated(nonsending) public func next(_ expected: String) async throws -> BrowserEvent {
    guard let event = await iterator.next(isolation: #isolation) else {
      throw DiscoveryContractFailure("the events ended at \(expected); before: \(history)")
    }
    history.append(event)
    return event
  }

  /// Returns the next event about a peer; skips events about the discovery system.
  nonisolated(nonsending) public func nextAboutPeer(_ expected: String) async throws -> BrowserEvent {
    while true {
      let event = try await next(expected)
      switch event {
      case .available, .unavailable: continue
      case .found, .updated, .lost: return event
      }
    }
  }

  /// Waits for `found`; throws if another event about a peer comes first.
  nonisolated(nonsending) public func found() async throws -> DiscoveredPeer {
    let event = try await nextAboutPeer("found")
    guard case .found(let peer) = event else { throw DiscoveryContractFailure("expected found, got \(event)") }
    return peer
  }

  /// Waits for an `updated` event that satisfies `isWanted`; throws if a peer is found or lost first.
  nonisolated(nonsending) public func updated(_ expected: String, where isWanted: (DiscoveredPeer) -> Bool) async throws
    -> DiscoveredPeer
  {
    while true {
      let event = try await nextAboutPeer("updated: \(expected)")
      guard case .updated(let peer) = event else {
        throw DiscoveryContractFailure("expected updated (\(expected)), got \(event)")
      }
      if isWanted(peer) { return peer }
    }
  }

  /// Waits for `lost` and skips updates; throws if a peer is found first.
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

  /// Waits until the discovery system is available.
  nonisolated(nonsending) public func available() async throws { while try await next("available") != .available {} }

  /// Waits until the discovery system is unavailable because of `problem`.
  nonisolated(nonsending) public func unavailable(_ problem: DiscoveryProblem) async throws {
    while try await next("unavailable(\(problem))") != .unavailable(problem) {}
  }
}

/// Reads the events of an advertiser and waits for the event that a test expects.
public final class AdvertiserProbe {
  private var iterator: DiscoveryEvents<AdvertiserEvent>.Iterator
  /// All events read so far.
  public private(set) var history: [AdvertiserEvent] = []

  /// Creates a probe that reads `events`.
  public init(_ events: DiscoveryEvents<AdvertiserEvent>) { iterator = events.makeAsyncIterator() }

  /// Returns the next event of any kind.
  ///
  /// - Parameter expected: The expected event, for the error message.
  /// - Returns: The event.
  /// - Throws: `DiscoveryContractFailure` if the events have ended.
  nonisolated(nonsending) public func next(_ expected: String) async throws -> AdvertiserEvent {
    guard let event = await iterator.next(isolation: #isolation) else {
      throw DiscoveryContractFailure("the events ended at \(expected); before: \(history)")
    }
    history.append(event)
    return event
  }

  /// Waits until the local peer is discoverable; returns its instance name.
  nonisolated(nonsending) public func announced() async throws -> InstanceName {
    while true { if case .announced(let name) = try await next("announced") { return name } }
  }

  /// Waits for a change of the instance name; returns the old and the new name.
  nonisolated(nonsending) public func renamed() async throws -> (from: InstanceName, to: InstanceName) {
    while true { if case .renamed(let from, let to) = try await next("renamed") { return (from, to) } }
  }

  /// Waits until the discovery system is unavailable because of `problem`.
  nonisolated(nonsending) public func unavailable(_ problem: DiscoveryProblem) async throws {
    while try await next("unavailable(\(problem))") != .unavailable(problem) {}
  }
}

/// Sample peers, sessions and announcements, identified by small numbers.
public enum DiscoverySamples {
  /// Returns the peer id for a number.
  public static func peer(_ number: UInt8) -> AnnouncedPeerID {
    guard let id = AnnouncedPeerID(bytes: [number] + [UInt8](repeating: 0xa5, count: 31)) else {
      preconditionFailure("a peer id has 32 bytes")
    }
    return id
  }

  /// Returns the session id for a number.
  public static func session(_ number: UInt8) -> AnnouncedSessionID {
    guard let id = AnnouncedSessionID(bytes: [number] + [UInt8](repeating: 0x3c, count: 15)) else {
      preconditionFailure("a session id has 16 bytes")
    }
    return id
  }

  /// Returns the announcement of a session by a peer.
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
