import ClusterTestKit
import CommandLines
import FoundationEssentials
import NIOConcurrencyHelpers
import PeerSession
import RelayCluster
import Testing

@testable import WhiteboardKit
@testable import WhiteboardRelay

@Suite struct ClusterSettingsTests {
  private func settings(_ flags: [String: String]) throws -> Settings {
    try Settings(SettingEntry.ofRelay, flags: flags, environment: { _ in nil }, file: nil)
  }

  @Test(
    "the addresses of NATS servers have a scheme, a host and a valid port",
    arguments: [
      ("nats://localhost", true), ("tls://n1:4222,tls://n2:4222", true), ("nats://user:secret@10.0.0.1:65535", true),
      ("nats://[::1]:4222", true), ("nats://localhost:99999", false), ("nats://localhost:0", false),
      ("nats://localhost:", false), ("nats://:4222", false), ("nats://", false), ("nats://a@", false),
      ("nats://n1:4222,nats://n2:65536", false), ("localhost:4222", false), ("http://localhost", false),
      ("nats://n1:4222/path", false), ("nats://::1", false),
    ]
  ) func addresses(text: String, isValid: Bool) throws {
    if isValid {
      #expect(try settings(["cluster": text]).value(.cluster) == text.split(separator: ",").map(String.init))
    } else {
      #expect { try settings(["cluster": text]) } throws: { ($0 as? WhiteboardError)?.code == .usage }
    }
  }

  @Test(
    "an option that needs another option is refused without it",
    arguments: ["cluster-ca", "cluster-credentials", "cluster-certificate", "cluster-key"]
  ) func incomplete(name: String) throws {
    let alone = try settings([name: "/none"])
    #expect { try ClusterSettings(alone, name: "test") } throws: {
      let error = $0 as? WhiteboardError
      return error?.code == .usage && error?.message == "--\(name) requires --cluster"
    }
  }

  @Test("a missing file is an error that names the file", .enabled(if: ClusterSettings.isSupported))
  func missing() throws {
    #expect(try ClusterSettings(try settings([:]), name: "test") == nil)
    #expect(try ClusterSettings(try settings(["cluster": "tls://n1"]), name: "test")?.servers == ["tls://n1"])
    let given = try settings(["cluster": "tls://n1", "cluster-ca": "/none/ca.pem"])
    #expect { try ClusterSettings(given, name: "test") } throws: {
      let error = $0 as? WhiteboardError
      return error?.code == .badConfiguration && error?.message == "the file /none/ca.pem in cluster-ca does not exist"
    }
  }
}

/// Relays of one cluster, with members on loopback.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RelayClusterTests {
  private func relay(
    _ name: String,
    in room: RelayRoom,
    of cluster: MemoryCluster,
    _ change: (inout RelayConfiguration) -> Void = { _ in }
  ) throws -> Relay {
    let place = "\(room.directory)/\(name)"
    try FileManager.default.createDirectory(
      atPath: place,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    return try room.relay(in: place) { configuration in
      configuration.name = name
      configuration.cluster = { cluster.connect() }
      change(&configuration)
    }
  }

  private func wait(_ relay: Relay, until holds: ([BoardReport]) -> Bool) async throws {
    // The test has a time limit.
    while !holds(await relay.reports()) { try await ContinuousClock().sleep(for: .milliseconds(20)) }
  }

  @Test("a board that one relay hosts is served by the others too, and outlives the loss of its relay")
  func spread() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      let (one, two, three) = (
        try relay("one", in: room, of: cluster), try relay("two", in: room, of: cluster),
        try relay("three", in: room, of: cluster)
      )
      try await room.running(two) { two in
        try await room.running(three) { three in
          try await room.running(one) { one in
            let link = try await one.createBoard(name: "standup").link
            for other in [two, three] { try await wait(other) { $0.first?.state == "serving" } }
            let other = try #require(await two.onlyReport?.link)
            #expect(other != link)
            // Both members see each other's changes, although they joined through different relays.
            try await room.joined(link, as: "ann") { ann in
              try await room.joined(other, as: "ben") { ben in
                try await ann.perform("text 0,0 \"from ann\"")
                try await ben.perform("text 9,9 \"from ben\"")
                try await ann.perform("wait objects=2 timeout=30")
                try await ben.perform("wait objects=2 timeout=30")
              }
            }
            let reports = try await one.clusterReports()
            #expect(Set(reports.map(\.name)) == ["one", "two", "three"])
            #expect(reports[0].state == .connected)
            #expect(reports[1...].allSatisfy { $0.state == .online })
            for (name, relay) in [("one", one), ("two", two), ("three", three)] {
              let others = ["three", "two"].filter { $0 != name }
              // The relays that do not host the board dial each other 3 s after they learned of each other (MEM-2).
              while try await relay.clusterBoards().first?.relays.map(\.raw).sorted() != others {
                try await ContinuousClock().sleep(for: .milliseconds(20))
              }
              let board = try #require(try await relay.clusterBoards().first)
              #expect(board.host == "one")
              #expect(board.missing == [])
            }
          }
          // The relay that hosts the board is gone.
          #expect(try await two.clusterReports().contains { $0.name == "one" && $0.state == .leaving })
          while try await two.clusterBoards().first?.missing.map(\.relay) != ["one"] {
            try await ContinuousClock().sleep(for: .milliseconds(20))
          }
          try await room.joined(try #require(await three.onlyReport?.link), as: "cy") { cy in
            try await cy.perform("wait objects=2 timeout=30")
          }
        }
      }
    }
  }

  @Test(
    """
    a relay that joins later gets the boards too, and deletes them with their relay, also if it hears of a deletion \
    before the servers have stored it
    """,
    arguments: [false, true]
  ) func deleted(storesLate: Bool) async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster(storesLate: storesLate)
      try await room.running(try relay("one", in: room, of: cluster)) { one in
        _ = try await one.createBoard(name: "standup")
        let own = try await one.createBoard(name: "other")
        let two = try relay("two", in: room, of: cluster)
        try await room.running(two) { two in
          try await wait(two) { $0.count == 2 && $0.allSatisfy { $0.state == "serving" } }
          let created = try await two.createBoard(name: "third")
          try await wait(one) { $0.count == 3 && $0.allSatisfy { $0.state == "serving" } }
          for case .error(_, let message) in await one.answer(ControlRequest(.delete, board: own.board)) {
            Issue.record("\(message)")
          }
          try await wait(two) { $0.count == 2 }
          #expect(Set(await two.reports().map(\.name)) == ["standup", "third"])
          // Any relay of the cluster may delete a board, also one that another relay hosts.
          _ = await one.answer(ControlRequest(.delete, board: created.board))
          try await wait(two) { $0.count == 1 }
        }
      }
    }
  }

  @Test("a board that was deleted while the cluster was away is deleted everywhere, even if its relay was restarted")
  func deletedWithoutCluster() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      try await room.running(try relay("two", in: room, of: cluster)) { two in
        try await room.running(try relay("one", in: room, of: cluster)) { one in
          _ = try await one.createBoard(name: "standup")
          _ = try await one.createBoard(name: "other")
          try await wait(two) { $0.count == 2 && $0.allSatisfy { $0.state == "serving" } }
        }
        let away = try relay("one", in: room, of: cluster) { configuration in
          configuration.cluster = { () async throws(ClusterError) in throw ClusterError(.unreachable, "away") }
        }
        try await room.running(away) { one in
          for case .error(_, let message) in await one.answer(ControlRequest(.delete, board: "standup")) {
            Issue.record("\(message)")
          }
        }
        #expect(await two.reports().count == 2)
        try await room.running(try relay("one", in: room, of: cluster)) { one in
          try await wait(two) { $0.map(\.name) == ["other"] }
          #expect(await one.reports().map(\.name) == ["other"])
          while await !one.cluster.unpublished.entries.isEmpty {
            try await ContinuousClock().sleep(for: .milliseconds(20))
          }
        }
        #expect(try UnpublishedRecords(inDataDirectory: room.directory + "/one").entries.isEmpty)
      }
    }
  }

  @Test("a deletion that a crash interrupted is finished at the next start") func interruptedDeletion() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      let one = try relay("one", in: room, of: cluster)
      let host = await one.configuration.identity.peerID.text
      try await room.running(one) { one in
        let board = try await one.createBoard(name: "standup").board
        let id = try #require(SessionID(text: board))
        var records = try UnpublishedRecords(inDataDirectory: room.directory + "/one")
        try records.set(id, .init(record: SharedBoardRecord(host: host, isDeleted: true)))
      }
      try await room.running(try relay("one", in: room, of: cluster)) { one in try await wait(one) { $0.isEmpty } }
    }
  }

  @Test("the records that wait for the cluster are private, and survive a restart unless they can be derived")
  func unpublished() async throws {
    try await RelayRoom.make { room in
      let path = room.data + "/cluster.json"
      let (first, second) = (SessionID.random(), SessionID.random())
      let deleted = UnpublishedRecords.Entry(record: SharedBoardRecord(host: "ada", isDeleted: true))
      var accepted = UnpublishedRecords.Entry(record: SharedBoardRecord(host: "ada", isDeleted: false))
      accepted.isFirstOnly = true
      var records = try UnpublishedRecords(inDataDirectory: room.data)
      try records.set(second, accepted)
      #expect(!FileManager.default.fileExists(atPath: path))
      try records.set(first, deleted)
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      #expect(try UnpublishedRecords(inDataDirectory: room.data).entries == [first: deleted])
      // A record that was replaced in the meantime stays.
      try records.remove(first, ifStill: accepted)
      try records.remove(second, ifStill: accepted)
      #expect(try UnpublishedRecords(inDataDirectory: room.data).entries == [first: deleted])
      #expect(records.entries == [first: deleted])
      try records.remove(first, ifStill: deleted)
      #expect(try UnpublishedRecords(inDataDirectory: room.data).entries.isEmpty)
      for text in ["", "{", #"{"version":2,"records":{}}"#, #"{"version":1,"records":{"a":{}}}"#] {
        try PrivateFile(path: path).replace(Array(text.utf8))
        #expect { () throws in try UnpublishedRecords(inDataDirectory: room.data) } throws: {
          ($0 as? WhiteboardError)?.code == .badData
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
      }
    }
  }

  @Test(
    "[RLY-22] a board that its host moved to one relay is on all relays of the cluster, and stays there without its host",
    arguments: [false, true]
  ) func accepted(isOwned: Bool) async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      let ada = try PeerIdentity.loadOrCreate(inDirectory: room.directory + "/ada")
      let one = try relay("one", in: room, of: cluster) { $0.limits.allowed = [ada.peerID] }
      try await room.running(one) { one in
        try await room.running(try relay("two", in: room, of: cluster)) { two in
          try await room.hosted(at: one, isOwned: isOwned) { host in
            try await host.perform("text 0,0 \"from ada\"")
            try await wait(two) { $0.first?.state == "serving" }
            try await host.perform("wait peers=2 timeout=30")
            try await host.perform("wait synced timeout=30")
          }
          let links = try [await one.onlyReport?.link, await two.onlyReport?.link].map { try #require($0) }
          try await room.joined(links[0], as: "ann") { ann in
            try await room.joined(links[1], as: "ben") { ben in
              try await ben.perform("wait objects=1 timeout=30")
              try await ben.perform("text 5,5 \"from ben\"")
              try await ann.perform("wait objects=2 timeout=30")
            }
          }
        }
        // A relay that the host does not know cannot serve the board.
        try await room.running(try relay("three", in: room, of: cluster)) { three in
          #expect(await three.reports().isEmpty)
        }
      }
    }
  }

  @Test("a peer that one relay removes from a board is removed on all, and cannot return") func removed()
    async throws
  {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      try await room.running(try relay("one", in: room, of: cluster)) { one in
        try await room.running(try relay("two", in: room, of: cluster)) { two in
          let board = try await one.createBoard(name: "standup").board
          try await wait(two) { $0.first?.state == "serving" }
          let former = try #require(await two.onlyReport?.link)
          func code(of relay: Relay) async throws -> String? {
            try BoardRegister(inDataDirectory: await relay.configuration.dataDirectory).entries.first?.code
          }
          let formerCode = try await code(of: two)
          let identity = PeerIdentity.ephemeral()
          try await room.joined(former, as: "ben", identity: identity) { ben in
            try await wait(one) { $0.first?.people.contains("ben") == true }
            var kick = ControlRequest(.kick, board: board)
            kick.peer = "ben"
            for case .error(_, let message) in await one.answer(kick) { Issue.record("\(message)") }
            #expect(await ben.sees { if case .news(.removed) = $0 { true } else { false } })
            try await wait(two) { $0.first?.people == [] }
          }
          // After a restart without the host, the other relay must not admit peers by the former code.
          #expect(try await code(of: one) != formerCode)
          while try await code(of: two) != code(of: one) { try await ContinuousClock().sleep(for: .milliseconds(20)) }
          try await wait(two) { $0.first?.link != former }
          // Neither the key that was removed nor the former code is accepted by the other relay.
          for key in [identity, .ephemeral()] {
            await #expect { try await room.joined(former, as: "cy", identity: key) { _ in } } throws: {
              ($0 as? WhiteboardError)?.code == .notAllowed
            }
          }
          let link = try #require(await one.onlyReport?.link)
          try await room.joined(link, as: "dan") { dan in try await dan.perform("wait peers=2 timeout=30") }
        }
      }
    }
  }

  @Test("[MEM-12] a relay that starts again without the host does not admit by the code before a removal")
  func removedBeforeRestart() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      var former = ""
      try await room.running(try relay("two", in: room, of: cluster)) { two in
        try await room.running(try relay("one", in: room, of: cluster)) { one in
          let board = try await one.createBoard(name: "standup").board
          try await wait(two) { $0.first?.state == "serving" }
          former = try #require(await two.onlyReport?.link)
          try await room.joined(former, as: "ben") { ben in
            try await wait(one) { $0.first?.people.contains("ben") == true }
            var kick = ControlRequest(.kick, board: board)
            kick.peer = "ben"
            for case .error(_, let message) in await one.answer(kick) { Issue.record("\(message)") }
          }
          try await wait(two) { $0.first?.link != former }
        }
      }
      try await room.running(try relay("two", in: room, of: MemoryCluster())) { two in
        try await wait(two) { $0.first?.state == "serving" }
        let link = try #require(await two.onlyReport?.link)
        var outdated = try BoardLink(link)
        outdated.code = try BoardLink(former).code
        await #expect { try await room.joined(outdated.text, as: "cy") { _ in } } throws: {
          ($0 as? WhiteboardError)?.code == .notAllowed
        }
        try await room.joined(link, as: "dan") { _ in }
      }
    }
  }

  @Test("a relay that cannot reach its cluster serves its boards and names the reason, and joins later")
  func unreachable()
    async throws
  {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      let isReachable = NIOLockedValueBox(false)
      let one = try relay("one", in: room, of: cluster) { configuration in
        configuration.cluster = { () async throws(ClusterError) in
          guard isReachable.withLockedValue({ $0 }) else { throw ClusterError(.unreachable, "no server answers") }
          return cluster.connect()
        }
      }
      try await room.running(one) { one in
        let link = try await one.createBoard(name: "standup").link
        try await room.joined(link, as: "ann") { ann in try await ann.perform("text 0,0 \"from ann\"") }
        let report = try #require(try await one.clusterReports().first)
        #expect(report.state == .disconnected)
        #expect(report.problem == "no server answers")
        isReachable.withLockedValue { $0 = true }
        try await room.running(try relay("two", in: room, of: cluster)) { two in
          try await wait(two) { $0.first?.state == "serving" }
          #expect(try await one.clusterReports().first?.state == .connected)
        }
      }
    }
  }

  private func announcement(_ peer: PeerID, isLeaving: Bool = false) -> ClusterAnnouncement {
    var announcement = ClusterAnnouncement(
      peer: peer.text,
      name: "two",
      addresses: ["127.0.0.1:1"],
      boards: 0,
      people: 0
    )
    announcement.isLeaving = isLeaving
    return announcement
  }

  @Test("a relay that left for good is forgotten after a day, and one that is heard is not", arguments: [false, true])
  func forgotten(isLeaving: Bool) {
    let (gone, stays) = (PeerIdentity.ephemeral().peerID, PeerIdentity.ephemeral().peerID)
    var state = RelayClusterState()
    state.relays[gone] = .init(announcement: announcement(gone, isLeaving: isLeaving), heard: .now)
    for round in 1...17_280 {
      state.relays[stays] = .init(announcement: announcement(stays), heard: .now)
      #expect(state.noteAnnouncement() == (round == 17_280 ? [gone] : []))
    }
    #expect(Array(state.relays.keys) == [stays])
  }

  @Test("too many relays are ignored, unless one of the known relays is offline") func bounded() {
    var state = RelayClusterState()
    let start = ContinuousClock.now
    let peers = (0..<18).map { _ in PeerIdentity.ephemeral().peerID }
    for (number, peer) in peers[..<16].enumerated() {
      let now = start + .milliseconds(number)
      #expect(state.note(announcement(peer), of: peer, now: now)?.isNew == true)
      #expect(state.note(announcement(peer), of: peer, now: now)?.isNew == false)
    }
    #expect(state.note(announcement(peers[16]), of: peers[16], now: start + .seconds(14)) == nil)
    #expect(Set(state.relays.keys) == Set(peers[..<16]))
    // The relays that are offline make room, beginning with the one that was not heard for the longest time.
    let later = start + .seconds(16)
    #expect(state.note(announcement(peers[0]), of: peers[0], now: later)?.isNew == true)
    #expect(state.note(announcement(peers[16]), of: peers[16], now: later)?.isNew == true)
    #expect(Set(state.relays.keys) == Set(peers[..<17]).subtracting([peers[1]]))
    #expect(state.note(announcement(peers[5], isLeaving: true), of: peers[5], now: later) != nil)
    for peer in peers[2..<16] { #expect(state.note(announcement(peer), of: peer, now: later) != nil) }
    #expect(state.note(announcement(peers[17]), of: peers[17], now: later) == nil)
    #expect(state.note(announcement(peers[5], isLeaving: true), of: peers[5], now: later) != nil)
    #expect(state.note(announcement(peers[17]), of: peers[17], now: later)?.isNew == true)
    #expect(state.relays[peers[5]] == nil)
  }

  @Test("a relay that joins is answered, but at most once a second") func answered() {
    var state = RelayClusterState()
    let start = ContinuousClock.now
    let peer = PeerIdentity.ephemeral().peerID
    var joining = announcement(peer)
    #expect(state.note(joining, of: peer, now: start)?.mustAnswer == false)
    joining.isJoining = true
    for (milliseconds, isAnswered) in [(0, true), (999, false), (1_000, true), (1_001, false)] {
      let noted = state.note(joining, of: peer, now: start + .milliseconds(milliseconds))
      #expect(noted?.mustAnswer == isAnswered)
    }
  }

  @Test("boards are moved to few relays at the same time, in order") func paced() {
    var state = RelayClusterState()
    let peers = (0..<6).map { _ in PeerIdentity.ephemeral().peerID }
    state.waiting = peers
    #expect((0..<5).map { _ in state.nextTarget() } == [peers[0], peers[1], peers[2], peers[3], nil])
    state.targets.remove(peers[2])
    #expect((0..<2).map { _ in state.nextTarget() } == [peers[4], nil])
    #expect(state.waiting == [peers[5]])
  }

  @Test("2,000 forged announcements do not make a relay dial or list 2,000 relays") func forged() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      try await room.running(try relay("one", in: room, of: cluster)) { one in
        _ = try await one.createBoard(name: "standup")
        while try await one.clusterReports().first?.state != .connected {
          try await ContinuousClock().sleep(for: .milliseconds(20))
        }
        let bus = cluster.connect()
        for _ in 0..<2_000 {
          let forged = try JSONEncoder().encode(announcement(PeerIdentity.ephemeral().peerID))
          try bus.publish(Array(forged), to: ClusterAnnouncement.subject)
        }
        while await !one.cluster.isFull { try await ContinuousClock().sleep(for: .milliseconds(20)) }
        #expect(try await one.clusterReports().count == 17)
        #expect(await one.cluster.targets.count <= 4)
        #expect(await one.cluster.waiting.count <= 16)
        await bus.close()
      }
    }
  }

  @Test("a relay that is full names the reason on the relay that hosts the board") func full() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      let two = try relay("two", in: room, of: cluster) { $0.limits.maximumBoards = 1 }
      try await room.running(two) { two in
        _ = try await two.createBoard(name: "first")
        try await room.running(try relay("one", in: room, of: cluster)) { one in
          let board = try await one.createBoard(name: "standup").board
          var missing: [ClusterBoardReport.Missing] = []
          while missing.first?.reason.raw.contains("1 boards and accepts no more") != true {
            try await ContinuousClock().sleep(for: .milliseconds(20))
            missing = try await one.clusterBoards().first { $0.board == board }?.missing ?? []
          }
          #expect(missing.map(\.relay) == ["two"])
        }
      }
    }
  }

  @Test("a relay without a cluster accepts no boards of other relays, and says that it has no cluster")
  func noCluster() async throws {
    try await RelayRoom.make { room in
      let cluster = MemoryCluster()
      try await room.running(try room.relay()) { alone in
        try await room.running(try relay("one", in: room, of: cluster)) { one in
          let own = try await one.createBoard(name: "standup")
          #expect(try await one.clusterBoards().first?.relays == [])
          let id = try #require(SessionID(text: own.board))
          let board = try #require(await one.sharedBoard(of: id))
          let addresses = await alone.addresses().map { PeerAddress(host: $0.host, port: $0.port) }
          await #expect { try await board.keep(at: alone.configuration.identity.peerID, addresses) } throws: {
            ($0 as? SessionError)?.code == .notCarried
          }
        }
        await #expect { try await alone.clusterReports() } throws: { ($0 as? WhiteboardError)?.code == .usage }
      }
    }
  }
}
