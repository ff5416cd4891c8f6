import PeerCore
import PeerDiscovery

/// One requirement that every implementation of discovery must meet, on any network.
public struct DiscoveryContract: Sendable, CustomStringConvertible {
  /// The requirement as a sentence, which starts with a rule id.
  public let description: String
  private let body: Body

  private typealias Body = @Sendable (any DiscoveryWorld, ServiceType) async throws -> Void

  private init(_ description: String, _ body: @escaping Body) {
    self.description = description
    self.body = body
  }

  /// Checks an implementation.
  ///
  /// - Throws: `DiscoveryContractFailure` if the implementation does not meet the requirement.
  public func check(in world: any DiscoveryWorld) async throws {
    let service = await world.makeService()
    try await world.run { try await body(world, service) }
  }

  /// All requirements for an implementation of discovery.
  public static let all: [DiscoveryContract] = [
    found, foundWhenThereFirst, ourselves, updated, goodbye, bodyThrows, restarted, twoBoards, relays, otherService,
    renamed, hostileNames, largest, cancelled, manyPeers,
  ]

  private static func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    if !condition { throw DiscoveryContractFailure(what()) }
  }

  private static let found = DiscoveryContract("[DSC-13] a peer is found with all it announced and a way to reach it") {
    world,
    service in
    let announcement = DiscoverySamples.announcement(peer: 1, board: "Plan für morgen", host: "Ada", participants: 3)
    let seeker = await world.makeHost(named: "seeker")
    let host = await world.makeHost(named: "host")
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await probe.available()
      try await host.advertise(Advertisement(service: service, port: 26_273, announcement: announcement)) { _ in
        let peer = try await probe.found()
        try expect(peer.announcement == announcement, "announced \(announcement), found \(peer)")
        try expect(!peer.endpoints.isEmpty, "there is no way to reach the peer")
        for endpoint in peer.endpoints {
          try expect(endpoint.port == 26_273, "port \(endpoint.port)")
          try expect(endpoint.interface.index > 0, "interface \(endpoint.interface)")
          try expect(endpoint.address.isUsable, "address \(endpoint.address)")
        }
      }
    }
  }

  private static let foundWhenThereFirst = DiscoveryContract(
    "[DSC-13] a peer that was there before the browser is found"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let announcement = DiscoverySamples.announcement(peer: 2)
    try await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { advertising in
      let name = try await AdvertiserProbe(advertising.events).announced()
      try expect(name == announcement.instanceName, "announced as \(name)")
      try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let peer = try await BrowserProbe(events).found()
        try expect(peer.announcement == announcement, "found \(peer)")
      }
    }
  }

  private static let ourselves = DiscoveryContract(
    "[DSC-14] a browser does not find the local peer, nor an earlier run of it"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let other = await world.makeHost(named: "other")
    let me = DiscoverySamples.announcement(peer: 3, incarnation: 7)
    let before = DiscoverySamples.announcement(peer: 3, session: 2, incarnation: 6)
    let them = DiscoverySamples.announcement(peer: 4)
    try await host.advertise(Advertisement(service: service, port: 1, announcement: me)) { mine in
      _ = try await AdvertiserProbe(mine.events).announced()
      try await host.advertise(Advertisement(service: service, port: 2, announcement: before)) { earlier in
        _ = try await AdvertiserProbe(earlier.events).announced()
        try await host.browse(BrowserQuery(service: service, excluding: me.peer)) { events in
          try await other.advertise(Advertisement(service: service, port: 3, announcement: them)) { _ in
            let peer = try await BrowserProbe(events).found()
            try expect(peer.announcement.peer == them.peer, "found \(peer) first")
          }
        }
      }
    }
  }

  private static let updated = DiscoveryContract(
    "[DSC-11] a changed announcement is seen as updated, and is not a new registration"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    var announcement = DiscoverySamples.announcement(peer: 5, participants: 1)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { advertising in
        let id = try await probe.found().id
        for participants in UInt16(2)...4 {
          announcement.participants = participants
          announcement.boardName = UntrustedText("Board of \(participants)")
          await advertising.update(announcement)
          let peer = try await probe.updated("\(participants)") { $0.announcement == announcement }
          try expect(peer.id == id, "\(peer.id) is not \(id)")
        }
        let advertiser = AdvertiserProbe(advertising.events)
        _ = try await advertiser.announced()
        let more = advertiser.history.filter { if case .announced = $0 { true } else { false } }
        try expect(more.count == 1, "announced \(more.count) times")
      }
    }
  }

  private static let goodbye = DiscoveryContract("[DSC-16] a peer that says goodbye is lost within 5 seconds") {
    world,
    service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let announcement = DiscoverySamples.announcement(peer: 6)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { _ in
        _ = try await probe.found()
      }
      let left = await world.now()
      let peer = try await probe.lost()
      try expect(peer.announcement == announcement, "lost \(peer)")
      let taken = await world.now() - left
      try expect(taken < .seconds(5), "lost after \(taken)")
    }
  }

  private static let bodyThrows = DiscoveryContract(
    "[DSC-16] an advertiser whose body throws an error says goodbye and rethrows the error"
  ) { world, service in
    struct Interrupted: Error {}
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let announcement = DiscoverySamples.announcement(peer: 7)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      do {
        try await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { _ in
          _ = try await probe.found()
          throw Interrupted()
        }
        throw DiscoveryContractFailure("the error was swallowed")
      } catch is Interrupted {}
      _ = try await probe.lost()
    }
  }

  private static let restarted = DiscoveryContract(
    "[DSC-13] a peer that restarts while its earlier run is still known is one peer, updated"
  ) { world, service in
    let first = await world.makeHost(named: "first")
    let second = await world.makeHost(named: "second")
    let seeker = await world.makeHost(named: "seeker")
    let old = DiscoverySamples.announcement(peer: 8, incarnation: 1)
    let new = DiscoverySamples.announcement(peer: 8, incarnation: 2)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await second.advertise(Advertisement(service: service, port: 1, announcement: old)) { earlier in
        _ = try await probe.found()
        _ = try await AdvertiserProbe(earlier.events).announced()
        try await first.advertise(Advertisement(service: service, port: 2, announcement: new)) { _ in
          let peer = try await probe.updated("the new incarnation") { $0.announcement.incarnation == new.incarnation }
          try expect(peer.endpoints.allSatisfy { $0.port == 2 }, "endpoints \(peer.endpoints)")
        }
        // The new run has left but the old run is still announced, so the peer is not lost.
        _ = try await probe.updated("the old incarnation") { $0.announcement.incarnation == old.incarnation }
      }
      _ = try await probe.lost()
    }
  }

  private static let twoBoards = DiscoveryContract("[DSC-13] two boards of one peer are two entries") {
    world,
    service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let one = DiscoverySamples.announcement(peer: 9, session: 1)
    let two = DiscoverySamples.announcement(peer: 9, session: 2)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await host.advertise(Advertisement(service: service, port: 1, announcement: one)) { _ in
        let first = try await probe.found()
        try await host.advertise(Advertisement(service: service, port: 1, announcement: two)) { _ in
          let second = try await probe.found()
          try expect(first.id != second.id, "both are \(first.id)")
        }
        let gone = try await probe.lost()
        try expect(gone.id.session == two.session, "lost \(gone)")
      }
    }
  }

  private static let relays = DiscoveryContract(
    "[DSC-10] a browser for relays finds only relays, and other browsers find them too"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let member = DiscoverySamples.announcement(peer: 10)
    let relay = DiscoverySamples.announcement(peer: 11, role: .relay)
    try await host.advertise(Advertisement(service: service, port: 1, announcement: member)) { advertising in
      _ = try await AdvertiserProbe(advertising.events).announced()
      try await host.advertise(Advertisement(service: service, port: 2, announcement: relay)) { _ in
        try await seeker.browse(BrowserQuery(service: service, relaysOnly: true, excluding: nil)) { events in
          let peer = try await BrowserProbe(events).found()
          try expect(peer.announcement == relay, "found \(peer)")
        }
        try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
          let probe = BrowserProbe(events)
          let ids = [try await probe.found().id.peer, try await probe.found().id.peer]
          try expect(Set(ids) == [member.peer, relay.peer], "found \(ids)")
        }
      }
    }
  }

  private static let otherService = DiscoveryContract("[DSC-1] services of another type are not found") {
    world,
    service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let other = try ServiceType("other-boards")
    let one = DiscoverySamples.announcement(peer: 12)
    let two = DiscoverySamples.announcement(peer: 13)
    try await host.advertise(Advertisement(service: service, port: 1, announcement: one)) { first in
      _ = try await AdvertiserProbe(first.events).announced()
      try await host.advertise(Advertisement(service: other, port: 1, announcement: two)) { _ in
        try await seeker.browse(BrowserQuery(service: other, excluding: nil)) { events in
          let peer = try await BrowserProbe(events).found()
          try expect(peer.announcement == two, "found \(peer)")
        }
      }
    }
  }

  private static let renamed = DiscoveryContract(
    "[DSC-12] an advertiser whose instance name is taken changes it and reports the change"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let other = await world.makeHost(named: "other")
    let seeker = await world.makeHost(named: "seeker")
    let announcement = DiscoverySamples.announcement(peer: 14)
    // A peer whose id and session start with the same characters, as an attacker could choose them.
    guard let id = AnnouncedPeerID(bytes: announcement.peer.bytes.dropLast() + [0]) else {
      preconditionFailure("a peer id has 32 bytes")
    }
    let thief = Announcement(
      peer: id,
      session: announcement.session,
      incarnation: announcement.incarnation,
      boardName: "Board",
      hostName: "Thief"
    )
    try expect(thief.instanceName == announcement.instanceName, "the names differ")
    try await other.advertise(Advertisement(service: service, port: 1, announcement: thief)) { theirs in
      _ = try await AdvertiserProbe(theirs.events).announced()
      try await host.advertise(Advertisement(service: service, port: 2, announcement: announcement)) { ours in
        let probe = AdvertiserProbe(ours.events)
        let (from, to) = try await probe.renamed()
        try expect(from == announcement.instanceName && to != from, "renamed \(from) to \(to)")
        let name = try await probe.announced()
        try expect(name == to, "announced \(name), not \(to)")
        try await seeker.browse(BrowserQuery(service: service, excluding: thief.peer)) { events in
          let peer = try await BrowserProbe(events).found()
          try expect(peer.announcement == announcement, "found \(peer)")
        }
      }
    }
  }

  private static let hostileNames = DiscoveryContract(
    "[DSC-15] a name with control characters arrives unchanged and is displayed safely"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let raw = "\u{1b}[31mred\u{7}\n\u{202e}txt\u{0}=\u{e0041}"
    let announcement = DiscoverySamples.announcement(peer: 15, board: raw, host: raw)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      try await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { _ in
        let peer = try await BrowserProbe(events).found()
        try expect(peer.announcement.boardName.raw == raw, "the text was changed on its way")
        let shown = "\(peer.announcement.boardName)"
        try expect(shown == "[31mred txt=", "displayed \(shown)")
      }
    }
  }

  private static let largest = DiscoveryContract("[DSC-5] an announcement of 400 bytes arrives whole") {
    world,
    service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    var announcement = DiscoverySamples.announcement(
      peer: 16,
      role: .member,
      board: String(repeating: "b", count: 128),
      host: String(repeating: "h", count: 64),
      participants: .max
    )
    var extra = DiscoveryInfo()
    let room = DiscoveryInfo.maximumSize - announcement.info.wireSize
    try extra.append("x", [UInt8](repeating: 0xff, count: min(room, 52) - 3))
    try announcement.setExtra(extra)
    try expect(announcement.info.wireSize > 390, "only \(announcement.info.wireSize) bytes")
    let sent = announcement
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      try await host.advertise(Advertisement(service: service, port: 1, announcement: sent)) { _ in
        let peer = try await BrowserProbe(events).found()
        try expect(peer.announcement == sent, "found \(peer)")
      }
    }
  }

  private static let cancelled = DiscoveryContract(
    "[DSC-19] cancelling the task ends the events and both scopes, with a goodbye"
  ) { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let announcement = DiscoverySamples.announcement(peer: 17)
    try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
      let probe = BrowserProbe(events)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          await host.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { advertising in
            for await _ in advertising.events {}
            return Task.isCancelled
          }
        }
        group.addTask {
          await host.browse(BrowserQuery(service: service, excluding: nil)) { events in
            for await _ in events {}
            return Task.isCancelled
          }
        }
        _ = try await probe.found()
        group.cancelAll()
        for try await wasCancelled in group {
          try expect(wasCancelled, "the events ended before the task was canceled")
        }
      }
      _ = try await probe.lost()
    }
  }

  private static let manyPeers = DiscoveryContract("[DSC-13] a dozen peers are each found once") { world, service in
    let host = await world.makeHost(named: "host")
    let seeker = await world.makeHost(named: "seeker")
    let numbers = UInt8(20)..<32
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in numbers {
        group.addTask {
          let announcement = DiscoverySamples.announcement(peer: number)
          await host.advertise(Advertisement(service: service, port: UInt16(number), announcement: announcement)) {
            for await _ in $0.events {}
          }
        }
      }
      try await seeker.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let probe = BrowserProbe(events)
        var seen: Set<AnnouncedPeerID> = []
        while seen.count < numbers.count {
          switch try await probe.nextAboutPeer("\(numbers.count) peers") {
          case .found(let peer): try expect(seen.insert(peer.id.peer).inserted, "found \(peer) twice")
          case .updated: continue
          case let event: throw DiscoveryContractFailure("expected found, got \(event)")
          }
        }
      }
      group.cancelAll()
    }
  }
}
