import FoundationEssentials
import PeerSession

/// Serves clients until the process is killed.
func serve(listen: String, inbox: String, isOnExecutor: Bool) async throws {
  try await PeerTransport.withTransport(configuration(listen: listen, inbox: inbox)) { transport in
    let session = try await transport.host(.random(), admission: .anyone)
    write(line: "\(transport.port) \(session.id) \(transport.peerID)")
    await withTaskExecutorPreference(isOnExecutor ? session.executor : nil) {
      var server = Server(session: session)
      await withDiscardingTaskGroup { streams in
        for await event in session.events {
          if case .streamOpened(let stream) = event {
            streams.addTask { try? await drain(stream) }
          } else {
            try? await server.take(event)
          }
        }
      }
    }
  }
}

/// Reads a stream to its end and answers with the number of bytes.
private func drain(_ stream: PeerStream) async throws {
  var count = 0
  for try await bytes in stream.inbound { count += bytes.count }
  try await stream.write(Order.tally.message(UInt64(count)))
  try await stream.finish()
}

/// The application at the other end.
private struct Server {
  /// The number of datagrams between two credits.
  private static let creditEvery: UInt64 = 64

  let session: Session
  private var counted: UInt64 = 0
  private var credited: UInt64 = 0

  init(session: Session) { self.session = session }

  mutating func take(_ event: SessionEvent) async throws {
    switch event {
    case .message(let bytes, let peer): try await obey(bytes, from: peer)
    case .datagram(let bytes, let peer):
      guard Order(of: bytes) == .count else {
        try await session.send(bytes, to: [peer], mode: .unreliable)
        return
      }
      counted += 1
      let number = Order.number(in: bytes)
      if number >= credited + Self.creditEvery {
        credited = number
        try await session.send(Order.count.message(number), to: [peer])
      }
    case .resourceFinished(_, .success(let resource)):
      if let path = resource.path { try FileManager.default.removeItem(atPath: path) }
    default: break
    }
  }

  private mutating func obey(_ bytes: [UInt8], from peer: PeerID) async throws {
    switch Order(of: bytes) {
    case .count?: counted += 1
    case .echo?: try await session.send(bytes, to: [peer])
    case .tally?:
      try await session.send(Order.tally.message(counted), to: [peer])
      counted = 0
      credited = 0
    case .markMemory?: try await session.send(Order.markMemory.message(UInt64(try Memory.mark())), to: [peer])
    case .peakMemory?: try await session.send(Order.peakMemory.message(UInt64(try Memory.peak())), to: [peer])
    case nil: break
    }
  }
}
