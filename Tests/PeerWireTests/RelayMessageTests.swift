import PeerWire
import Testing

@Suite("RelayMessage") struct RelayMessageTests {
  @Test("[RLY-5] a valid message is encoded and decoded", arguments: SessionVectors.all.relayMessages.valid) func valid(
    _ vector: SessionVectors.Relayed
  ) throws {
    let bytes = unhex(vector.hex)
    var offset = 0
    let message = try RelayMessage.read(from: bytes.span, payloadAt: &offset)
    #expect(message == (try expected(vector)))
    #expect(message.isRelays == (vector.kind >= 16))
    #expect(hex(bytes[offset...]) == vector.payload)
    #expect(message.encoded(bytes[offset...]) == bytes)
    for count in 0..<offset {
      var start = 0
      #expect(throws: RelayMessage.DecodingError.self) {
        try RelayMessage.read(from: Array(bytes[..<count]).span, payloadAt: &start)
      }
    }
  }

  private func expected(_ vector: SessionVectors.Relayed) throws -> RelayMessage {
    let peer = unhex(vector.peer ?? "")
    let route = vector.route ?? 0
    let routes = RouteSet(vector.routes ?? [])
    let token = UInt64(vector.token ?? "0") ?? 0
    let end = try #require(RouteEnd(rawValue: vector.end ?? 0))
    return switch vector.kind {
    case 1: .reach(peer: peer, incarnation: unhex(vector.incarnation ?? ""))
    case 2: .unreach(peer: peer, end)
    case 3: .free(route)
    case 4: .send(routes)
    case 5: .confirm(routes, token: token)
    case 6: .confirmed(route, token: token)
    case 16: .route(route)
    case 17: .unroute(route, end)
    case 18: .from(route)
    case 19: .confirming(route, token: token)
    default: .confirmation(route, token: token)
    }
  }

  @Test("[RLY-5] an invalid message is rejected", arguments: SessionVectors.all.relayMessages.invalid) func invalid(
    _ vector: SessionVectors.Invalid
  ) {
    var offset = 0
    do {
      let message = try RelayMessage.read(from: vector.bytes.span, payloadAt: &offset)
      Issue.record("read as \(message)")
    } catch {
      switch error {
      case .unknownKind: #expect(vector.error == "unknown-kind")
      case .malformed: #expect(vector.error == "malformed")
      }
    }
  }

  @Test("[RLY-7] an unknown reason for the end of a route counts as lost") func unknownEnd() throws {
    var offset = 0
    let message = try RelayMessage.read(from: [17, 3, 200].span, payloadAt: &offset)
    #expect(message == .unroute(3, .lost))
  }

  @Test("a set of routes contains the inserted numbers in ascending order") func routeSet() {
    for routes in [[0], [255], [0, 63, 64, 127, 128, 191, 192, 255], Array(UInt8.min...UInt8.max)] as [[UInt8]] {
      let set = RouteSet(routes.reversed())
      #expect(set.routes == routes)
      for route in UInt8.min...UInt8.max { #expect(set.contains(route) == routes.contains(route)) }
    }
    #expect(RouteSet().isEmpty && RouteSet().routes.isEmpty)
  }
}
