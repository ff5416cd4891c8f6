import Foundation
import PeerCore
import PeerDiscovery
import Testing

@testable import PeerSession

struct PeerStoreTests {
  private let anna = PeerIdentity.ephemeral().peerID
  private let bert = PeerIdentity.ephemeral().peerID

  @Test("peers are stored across runs, in a file that only its user can read") func remembered() async throws {
    try await withPrivateDirectory { directory in
      let file = directory + "/data/peers.json"
      let store = try PeerStore(file: file)
      #expect(await store.all == [])
      try await store.remember(anna, name: "Anna", how: .code)
      try await store.remember(bert, name: "Bert\u{1B}[2J", how: .anyone)
      #expect(try permissions(file) == 0o600)
      let again = try PeerStore(file: file)
      #expect(await again.contains(anna))
      #expect(await again.all == (await store.all))
      #expect(await again.all.count == 2)
      #expect(try await again.forget(bert))
      #expect(try await again.forget(bert) == false)
      #expect(try await PeerStore(file: file).contains(bert) == false)
    }
  }

  @Test("the stronger verification stays, and the latest name and time are stored") func updated() async throws {
    try await withPrivateDirectory { directory in
      let store = try PeerStore(file: directory + "/peers.json")
      let first = Date(timeIntervalSince1970: 1_000_000)
      try await store.remember(anna, name: "Anna", how: .anyone, now: first)
      try await store.remember(anna, name: "Anna", how: .code, now: first + 10)
      try await store.remember(anna, name: "Anne", how: .anyone, now: first + 20)
      let peer = try #require(await store.all.first)
      #expect(peer.verified == .code)
      #expect(peer.name.raw == "Anne")
      #expect(peer.firstSeen == first)
      #expect(peer.lastSeen == first + 20)
    }
  }

  @Test("a known name is found regardless of case and spacing") func knownNames() {
    var names = KnownNames()
    names[anna] = "Anna  Lee"
    #expect(names.peer(named: UntrustedText("anna lee\u{200B}")) == anna)
    #expect(names.peer(named: UntrustedText("Bert")) == nil)
    names[bert] = "Anna Lee"
    names[anna] = "Anne"
    #expect(names.peer(named: UntrustedText("Anna Lee")) == bert)
    names[bert] = nil
    #expect(names.peer(named: UntrustedText("Anna Lee")) == nil)
    #expect(names[anna] == "Anne" && names[bert] == nil)
    // Many different people have the default name.
    names[bert] = PeerStore.defaultName
    #expect(names.peer(named: UntrustedText("guest ")) == nil)
  }

  @Test("peers that are admitted at the same time are written together") func together() async throws {
    try await withPrivateDirectory { directory in
      let store = try PeerStore(file: directory + "/peers.json")
      let ids = (0..<200).map { PeerID(spki: Array("\($0)".utf8)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for id in ids { group.addTask { try await store.remember(id, name: "x", how: .link) } }
        try await group.waitForAll()
      }
      #expect(await store.writeCount < 100)
      #expect(try await PeerStore(file: directory + "/peers.json").all.count == ids.count)
    }
  }

  @Test("two processes with one file do not lose each other's changes") func shared() async throws {
    try await withPrivateDirectory { directory in
      let file = directory + "/peers.json"
      let ids = (0..<20).map { _ in PeerIdentity.ephemeral().peerID }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for slice in [ids.prefix(10), ids.suffix(10)] {
          let store = try PeerStore(file: file)
          group.addTask { for id in slice { try await store.remember(id, name: "x", how: .link) } }
        }
        try await group.waitForAll()
      }
      let all = await Set(try PeerStore(file: file).all.map(\.peer))
      #expect(all == Set(ids))
    }
  }

  @Test("a damaged file, or one that others may read, is refused with an error and not changed") func damaged()
    async throws
  {
    let id = anna.text
    let entry = "{\"peer\":\"\(id)\",\"name\":\"x\",\"verified\":\"code\",\"firstSeen\":1,\"lastSeen\":2}"
    for text in [
      "", "[]", "{}", "{\"version\":1}", "{\"version\":2,\"peers\":[]}", "{\"version\":1,\"peers\":[{}]}",
      "{\"version\":1,\"peers\":[\(entry)]", "{\"version\":1,\"peers\":[\(entry.replacing("code", with: "trust"))]}",
      "{\"version\":1,\"peers\":[\(entry.replacing(id, with: "x"))]}", String(repeating: "[", count: 100_000),
    ] {
      try await withPrivateDirectory { directory in
        let file = directory + "/peers.json"
        try Data(text.utf8).write(to: URL(filePath: file))
        try setPermissions(0o600, file)
        let error = #expect(throws: PeerStoreError.damaged(file: file)) { try PeerStore(file: file) }
        #expect(error?.description.contains("mv \(file) \(file).old") == true)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
      }
    }
    try await withPrivateDirectory { directory in
      let file = directory + "/peers.json"
      try Data("{\"version\":1,\"peers\":[\(entry)]}".utf8).write(to: URL(filePath: file))
      try setPermissions(0o644, file)
      let error = #expect(throws: PeerStoreError.self) { try PeerStore(file: file) }
      #expect(error?.description.contains("chmod 600 \(file)") == true)
      try setPermissions(0o600, file)
      #expect(try await PeerStore(file: file).contains(anna))
    }
  }

  @Test("above the limit, unverified peers are removed first, then those not seen for the longest time") func bounded()
    async throws
  {
    try await withPrivateDirectory { directory in
      let file = directory + "/peers.json"
      func id(_ number: Int) -> PeerID { PeerID(spki: Array("\(number)".utf8)) }
      let entries = (0..<PeerStore.maximumPeers).map { number in
        let verified = number == 5_000 ? "anyone" : "code"
        return "{\"peer\":\"\(id(number).text)\",\"name\":\"x\",\"verified\":\"\(verified)\","
          + "\"firstSeen\":\(number),\"lastSeen\":\(number)}"
      }
      try Data("{\"version\":1,\"peers\":[\(entries.joined(separator: ","))]}".utf8).write(to: URL(filePath: file))
      try setPermissions(0o600, file)
      let store = try PeerStore(file: file)
      try await store.remember(anna, name: "Anna", how: .code)
      #expect(await store.all.count == PeerStore.maximumPeers)
      #expect(await store.contains(id(5_000)) == false)
      try await store.remember(bert, name: "Bert", how: .code)
      #expect(await store.all.count == PeerStore.maximumPeers)
      #expect(await store.contains(id(0)) == false)
      #expect(await store.contains(id(1)))
    }
  }
}
