/// The queue holds at most one event for each peer, and one about the discovery system. Implements DSC-19.
package struct BrowserQueue: Sendable {
  private enum Pending {
    case found(DiscoveredPeer)
    case updated(DiscoveredPeer)
    case lost(DiscoveredPeer)
  }

  private var order: [DiscoveredPeer.ID] = []
  private var pending: [DiscoveredPeer.ID: Pending] = [:]
  private var system: BrowserEvent?

  package init() {}

  package var count: Int { order.count + (system == nil ? 0 : 1) }

  package mutating func push(_ event: BrowserEvent) {
    switch event {
    case .found(let peer):
      // The reader has not yet read the loss of this peer, so report an update instead of a new peer.
      if case .lost? = pending[peer.id] { set(.updated(peer), for: peer.id) } else { set(.found(peer), for: peer.id) }
    case .updated(let peer):
      if case .found? = pending[peer.id] { set(.found(peer), for: peer.id) } else { set(.updated(peer), for: peer.id) }
    case .lost(let peer):
      if case .found? = pending[peer.id] {
        pending[peer.id] = nil
        order.removeAll { $0 == peer.id }
      } else {
        set(.lost(peer), for: peer.id)
      }
    case .available, .unavailable: system = event
    }
  }

  package mutating func pop() -> BrowserEvent? {
    if let event = system {
      system = nil
      return event
    }
    guard !order.isEmpty else { return nil }
    let id = order.removeFirst()
    switch pending.removeValue(forKey: id) {
    case .found(let peer): return .found(peer)
    case .updated(let peer): return .updated(peer)
    case .lost(let peer): return .lost(peer)
    case nil: preconditionFailure("every queued id must have a pending event")
    }
  }

  private mutating func set(_ event: Pending, for id: DiscoveredPeer.ID) {
    if pending.updateValue(event, forKey: id) == nil { order.append(id) }
  }
}

package struct AdvertiserQueue: Sendable {
  package static let limit = 16

  private var events: [AdvertiserEvent] = []

  package init() {}

  package mutating func push(_ event: AdvertiserEvent) {
    if events.count == Self.limit { events.removeFirst() }
    events.append(event)
  }

  package mutating func pop() -> AdvertiserEvent? { events.isEmpty ? nil : events.removeFirst() }
}
