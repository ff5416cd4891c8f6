import PeerSession

/// The end of the connection that takes the measurements.
struct Client {
  private static let clock = ContinuousClock()

  private let listen: String
  private let inbox: String
  private let request: JoinRequest
  private let server: PeerID
  /// Whether the client runs on the session's own thread.
  private let isOnExecutor: Bool

  init(listen: String, inbox: String, server: String, session: String, peer: String, isOnExecutor: Bool) throws {
    guard let address = PeerAddress(server), let session = SessionID(text: session), let peer = PeerID(text: peer)
    else { throw Misuse("Where the server is: HOST:PORT SESSION PEER.") }
    self.listen = listen
    self.inbox = inbox
    self.server = peer
    self.isOnExecutor = isOnExecutor
    self.request = JoinRequest(session: session, addresses: [address], peer: peer, trust: .pinnedByLink)
  }

  func measure(_ name: String, _ arguments: [String]) async throws -> Figures {
    switch (name, arguments.count) {
    case ("dial", 1): try await dial(times: number(arguments[0]))
    case ("messages", 3):
      try await joined {
        try await messages($0, number(arguments[0]), length: number(arguments[1]), tasks: number(arguments[2]))
      }
    case ("round-trip", 1): try await joined { try await roundTrips($0, number(arguments[0]), mode: .reliable) }
    case ("datagrams", 2):
      try await joined { try await datagrams($0, number(arguments[0]), window: number(arguments[1])) }
    case ("datagram-round-trip", 1):
      try await joined { try await roundTrips($0, number(arguments[0]), mode: .unreliable) }
    case ("stream", 2): try await joined { try await stream($0, number(arguments[0]), piece: number(arguments[1])) }
    case ("resource", 1): try await joined { try await resource($0, path: arguments[0]) }
    case ("busy", 1): try await joined { try await busy($0, path: arguments[0]) }
    default: throw Misuse("No such measurement: \(name) \(arguments)")
    }
  }

  private func number(_ text: String) throws -> Int {
    guard let number = Int(text), number > 0 else { throw Misuse("\(text) is not a number above 0.") }
    return number
  }

  private func joined(_ body: (Session) async throws -> Figures) async throws -> Figures {
    try await PeerTransport.withTransport(configuration(listen: listen, inbox: inbox)) { transport in
      let session = try await transport.join(request) { _ in false }
      return try await withTaskExecutorPreference(isOnExecutor ? session.executor : nil) { try await body(session) }
    }
  }

  // MARK: Measurements

  /// Measures how long an unconnected process takes to become a member of the session, with a new key each time.
  private func dial(times: Int) async throws -> Figures {
    var durations: [Duration] = []
    for _ in 0..<times {
      let configuration = try configuration(listen: listen, inbox: inbox)
      let duration = try await PeerTransport.withTransport(configuration) { transport in
        let start = Self.clock.now
        _ = try await transport.join(request) { _ in false }
        return Self.clock.now - start
      }
      durations.append(duration)
    }
    var figures = Figures()
    figures.add(roundTrips: durations)
    return figures
  }

  /// Measures messages per second, from the first `send` until the other application has received the last message.
  private func messages(_ session: Session, _ count: Int, length: Int, tasks: Int) async throws -> Figures {
    let peer = server
    var answers = Answers(session)
    let message = Order.count.message(length: length)
    let start = Self.clock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<tasks {
        group.addTask { for _ in 0..<(count / tasks) { try await session.send(message, to: [peer]) } }
      }
      try await group.waitForAll()
    }
    let sent = Self.clock.now - start
    try await session.send(Order.tally.message(), to: [peer])
    let counted = try await answers.next(.tally)
    let duration = Self.clock.now - start
    guard counted == UInt64(count / tasks * tasks) else {
      throw Misuse("\(counted) of \(count) messages were counted.")
    }
    var figures = Figures()
    figures["rate"] = Double(counted) / duration.seconds
    figures["sent"] = Double(counted) / sent.seconds
    return figures
  }

  /// Measures round trips of 100 bytes, one at a time.
  private func roundTrips(_ session: Session, _ count: Int, mode: SendMode) async throws -> Figures {
    var answers = Answers(session)
    if mode == .unreliable { try await answers.waitForPackets() }
    var durations: [Duration] = []
    durations.reserveCapacity(count)
    let warmUp = min(count / 10, 1_000)
    for index in 0..<(count + warmUp) {
      let message = Order.echo.message(UInt64(index), length: 100)
      let start = Self.clock.now
      try await session.send(message, to: [server], mode: mode)
      while try await answers.next(.echo) != UInt64(index) {}
      if index >= warmUp { durations.append(Self.clock.now - start) }
    }
    var figures = Figures()
    figures.add(roundTrips: durations)
    return figures
  }

  /// Measures how many datagrams of 100 bytes arrive per second.
  ///
  /// The number of unconfirmed datagrams stays below `window`, because nothing else limits the sender.
  private func datagrams(_ session: Session, _ count: Int, window: Int) async throws -> Figures {
    let peer = server
    var answers = Answers(session)
    try await answers.waitForPackets()
    let start = Self.clock.now
    let lost = try await withThrowingTaskGroup(of: Void.self) { group in
      // If every credit is lost, an occasional echo opens the window again.
      group.addTask {
        while !Task.isCancelled {
          try await Task.sleep(for: .milliseconds(20))
          try await session.send(Order.echo.message(), to: [peer])
        }
      }
      defer { group.cancelAll() }
      var sent = 0
      var seen = 0
      var seenAtEcho = 0
      while sent < count {
        while sent < count && sent - seen < window {
          sent += 1
          let datagram = Order.count.message(UInt64(sent), length: 100)
          try await session.send(datagram, to: [peer], mode: .unreliable)
        }
        guard sent < count else { break }
        let (order, number) = try await answers.next()
        if order == .count { seen = Int(number) }
        if order == .echo {
          if seen == seenAtEcho { seen = sent }
          seenAtEcho = seen
        }
      }
      let duration = Self.clock.now - start
      try await Task.sleep(for: .milliseconds(100))
      try await session.send(Order.tally.message(), to: [peer])
      let counted = try await answers.next(.tally)
      return (counted: Int(counted), duration: duration)
    }
    var figures = Figures()
    figures["rate"] = Double(lost.counted) / lost.duration.seconds
    figures["lost"] = Double(count - lost.counted) / Double(count)
    return figures
  }

  /// Measures a byte stream from memory to memory.
  private func stream(_ session: Session, _ count: Int, piece: Int) async throws -> Figures {
    let bytes = [UInt8](repeating: 0x5A, count: piece)
    let stream = try await session.openStream(named: "bench", to: server)
    let start = Self.clock.now
    var written = 0
    while written < count {
      try await stream.write(bytes)
      written += bytes.count
    }
    try await stream.finish()
    var answer: [UInt8] = []
    for try await bytes in stream.inbound { answer += bytes }
    let duration = Self.clock.now - start
    guard Order.number(in: answer) == UInt64(written) else { throw Misuse("Bytes of the stream are missing.") }
    var figures = Figures()
    figures["rate"] = Double(written) / 1e6 / duration.seconds
    return figures
  }

  /// Measures the time until the receiver has verified a file, and the memory that both sides use for it.
  private func resource(_ session: Session, path: String) async throws -> Figures {
    var answers = Answers(session)
    try await session.send(Order.markMemory.message(), to: [server])
    let serverIdle = try await answers.next(.markMemory)
    let idle = try Memory.mark()
    let start = Self.clock.now
    let resource = try await session.sendResource(atPath: path, named: "bench", to: server).result()
    let duration = Self.clock.now - start
    let peak = try Memory.peak()
    try await session.send(Order.peakMemory.message(), to: [server])
    let serverPeak = try await answers.next(.peakMemory)
    var figures = Figures()
    figures["rate"] = Double(resource.size) / 1e6 / duration.seconds
    figures["senderMemory"] = Double(peak - idle) / 1e6
    figures["receiverMemory"] = (Double(serverPeak) - Double(serverIdle)) / 1e6
    return figures
  }

  /// Measures round trips every 20 ms during a transfer, without its first second.
  private func busy(_ session: Session, path: String) async throws -> Figures {
    let peer = server
    let transfer = try session.sendResource(atPath: path, named: "bench", to: peer)
    let start = Self.clock.now
    let durations = await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for tick in 1... {
          try await Task.sleep(until: start + .milliseconds(20) * tick)
          let now = UInt64((Self.clock.now - start).seconds * 1e9)
          try await session.send(Order.echo.message(now, length: 100), to: [peer])
        }
      }
      defer { group.cancelAll() }
      var durations: [Duration] = []
      events: for await event in session.events {
        switch event {
        case .message(let bytes, _) where Order(of: bytes) == .echo:
          let sent = Duration.nanoseconds(Order.number(in: bytes))
          if sent > .seconds(1) { durations.append(Self.clock.now - start - sent) }
        case .resourceFinished: break events
        default: break
        }
      }
      return durations
    }
    let resource = try await transfer.result()
    var figures = Figures()
    figures.add(roundTrips: durations)
    figures["rate"] = Double(resource.size) / 1e6 / (Self.clock.now - start).seconds
    return figures
  }
}

/// Reads the server's answers from the events of a session.
private struct Answers {
  private let session: Session
  private var events: SessionEvents.AsyncIterator

  init(_ session: Session) {
    self.session = session
    events = session.events.makeAsyncIterator()
  }

  mutating func next() async throws -> (Order, UInt64) {
    while let event = await events.next() {
      switch event {
      case .message(let bytes, _), .datagram(let bytes, _):
        if let order = Order(of: bytes) { return (order, Order.number(in: bytes)) }
      case .peerLeft(_, let reason, _): throw Misuse("The server is gone: \(reason.word).")
      default: break
      }
    }
    throw Misuse("The session ended.")
  }

  /// Returns the number in the next answer to an order.
  mutating func next(_ order: Order) async throws -> UInt64 {
    while true {
      let (found, number) = try await next()
      if found == order { return number }
    }
  }

  /// Waits until datagrams are sent as packets.
  mutating func waitForPackets() async throws {
    while session.peers().first?.datagramPath != .udp {
      guard await events.next() != nil else { throw Misuse("The session ended.") }
    }
  }
}
