/// The state of an in-memory network.
extension InMemoryNetwork {
  struct Machine {
    var problem: DiscoveryProblem?
    var isPlugged = true
  }

  struct Registration {
    let host: InMemoryHost
    let service: ServiceType
    let port: UInt16
    let signal: AsyncStream<Void>.Continuation
    var announcement: Announcement
    var name: InstanceName
    var isAnnounced = false
    var announcing: Duration?
    var queue = AdvertiserQueue()
  }

  struct Copy {
    var announcement: Announcement
    var name: InstanceName
    var expiry: Duration?
  }

  struct Listener {
    let host: InMemoryHost
    let query: BrowserQuery
    let signal: AsyncStream<Void>.Continuation
    var table: PeerTable
    var queue = BrowserQueue()
    var copies: [ID: Copy] = [:]
    var isAvailable = false
  }

  struct Delivery {
    let due: Duration
    let registration: ID
    let listener: ID
    /// The announcement, or `nil` for its withdrawal (an mDNS goodbye).
    let copy: Copy?
  }
}
