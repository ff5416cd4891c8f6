import PeerTestKit
import Testing

@testable import PeerDiscovery

struct EventQueuesTests {
  private static func peer(_ number: UInt8, _ participants: UInt16) -> DiscoveredPeer {
    DiscoveredPeer(announcement: DiscoverySamples.announcement(peer: number, participants: participants), endpoints: [])
  }

  /// Pending events, new events, and the events that are then delivered.
  private static let merges: [([BrowserEvent], [BrowserEvent])] = [
    ([.found(peer(1, 1)), .updated(peer(1, 2))], [.found(peer(1, 2))]), ([.found(peer(1, 1)), .lost(peer(1, 1))], []),
    ([.updated(peer(1, 1)), .updated(peer(1, 2))], [.updated(peer(1, 2))]),
    ([.updated(peer(1, 1)), .lost(peer(1, 1))], [.lost(peer(1, 1))]),
    ([.lost(peer(1, 1)), .found(peer(1, 2))], [.updated(peer(1, 2))]),
    ([.lost(peer(1, 1)), .found(peer(1, 2)), .lost(peer(1, 2))], [.lost(peer(1, 2))]),
    ([.found(peer(1, 1)), .found(peer(2, 1))], [.found(peer(1, 1)), .found(peer(2, 1))]),
    ([.unavailable(.daemonNotRunning), .available], [.available]),
    ([.found(peer(1, 1)), .unavailable(.busRefused)], [.unavailable(.busRefused), .found(peer(1, 1))]),
  ]

  @Test("[DSC-19] unread events about one peer are merged into one event") func merges() {
    for (events, told) in Self.merges {
      var queue = BrowserQueue()
      for event in events { queue.push(event) }
      #expect(queue.count == told.count)
      var popped: [BrowserEvent] = []
      while let event = queue.pop() { popped.append(event) }
      #expect(popped == told, "\(events)")
    }
  }

  @Test("[DSC-19] after any merging, a reader that reads all events knows the current peers", arguments: 1...20)
  func converges(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = BrowserQueue()
    var real: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
    var known: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
    var reads = 0
    func read() {
      guard let event = queue.pop() else { return }
      reads += 1
      switch event {
      case .found(let peer): #expect(known.updateValue(peer, forKey: peer.id) == nil, "found twice, seed \(seed)")
      case .updated(let peer): #expect(known.updateValue(peer, forKey: peer.id) != nil, "not known, seed \(seed)")
      case .lost(let peer): #expect(known.removeValue(forKey: peer.id) != nil, "not known, seed \(seed)")
      case .available, .unavailable: break
      }
    }
    for _ in 0..<2_000 {
      let number = UInt8.random(in: 0..<8, using: &random)
      let peer = Self.peer(number, UInt16.random(in: 0...100, using: &random))
      if let before = real[peer.id] {
        if Bool.random(using: &random) {
          real[peer.id] = nil
          queue.push(.lost(before))
        } else {
          real[peer.id] = peer
          queue.push(.updated(peer))
        }
      } else {
        real[peer.id] = peer
        queue.push(.found(peer))
      }
      #expect(queue.count <= 8)
      if Int.random(in: 0..<3, using: &random) == 0 { read() }
    }
    while queue.count > 0 { read() }
    #expect(known == real, "seed \(seed)")
    #expect(reads > 100)
  }

  @Test("[DSC-19] an advertiser keeps the latest 16 events") func limitsAdvertiser() {
    var queue = AdvertiserQueue()
    for number in 0..<20 { queue.push(.unavailable(.failed(code: Int32(number), reason: ""))) }
    var popped: [AdvertiserEvent] = []
    while let event = queue.pop() { popped.append(event) }
    #expect(popped == (4..<20).map { .unavailable(.failed(code: $0, reason: "")) })
  }
}
