import PeerCore

/// A message between a member and a relay about other peers (`Protocol/session.md`, 11.2).
///
/// A relay message is the content of a MESSAGE whose first part has flag 8. The heads of ``send(_:)`` and ``from(_:)``
/// are followed by a payload. The head of ``route(_:)`` is followed by the JSON description of a member.
public enum RelayMessage: Equatable, Sendable {
  /// From a member: requests a route to this incarnation of a peer.
  case reach(peer: [UInt8], incarnation: [UInt8])
  /// From a member: withdraws the request for a route to a peer, with the reason.
  case unreach(peer: [UInt8], RouteEnd)
  /// From a member: the relay may reuse this route number.
  case free(UInt8)
  /// From a member: the payload is for the peers at these routes.
  case send(RouteSet)
  /// From a member: asks the peers at these routes to confirm that they received all earlier messages.
  case confirm(RouteSet, token: UInt64)
  /// From a member: answers ``confirming(_:token:)``.
  case confirmed(UInt8, token: UInt64)
  /// From a relay: assigns this route number to the member whose JSON follows.
  case route(UInt8)
  /// From a relay: the route has ended, for this reason.
  case unroute(UInt8, RouteEnd)
  /// From a relay: the payload is from the peer at this route.
  case from(UInt8)
  /// From a relay: the peer at this route asks for a confirmation that all its earlier messages arrived.
  case confirming(UInt8, token: UInt64)
  /// From a relay: the peer at this route answers ``confirm(_:token:)``.
  case confirmation(UInt8, token: UInt64)

  /// Whether a relay sends the message; `false` if a member sends it.
  public var isRelays: Bool { kind >= 16 }

  /// The maximum length of a message in bytes, including its head (RLY-5).
  public static let maximumLength = Limits.message + 64

  private var kind: UInt8 {
    switch self {
    case .reach: 1
    case .unreach: 2
    case .free: 3
    case .send: 4
    case .confirm: 5
    case .confirmed: 6
    case .route: 16
    case .unroute: 17
    case .from: 18
    case .confirming: 19
    case .confirmation: 20
    }
  }

  /// The reason why bytes are not a relay message; the link must be closed with `protocol-error` (RLY-5).
  public enum DecodingError: Error, Equatable, Sendable {
    /// The message is empty, or its kind is unknown.
    case unknownKind(UInt8?)
    /// The head ends early, has a value out of range, or is followed by unexpected bytes.
    case malformed
  }

  /// Reads the head of a message and sets `offset` to the start of the payload.
  ///
  /// - Throws: ``DecodingError`` if the message is malformed.
  public static func read(from bytes: Span<UInt8>, payloadAt offset: inout Int) throws(DecodingError) -> RelayMessage {
    guard let kind = bytes.isEmpty ? nil : bytes[0] else { throw .unknownKind(nil) }
    var position = 1
    let message: RelayMessage
    switch kind {
    case 1: message = .reach(peer: try take(32, bytes, &position), incarnation: try take(8, bytes, &position))
    case 2:
      let peer = try take(32, bytes, &position)
      message = .unreach(peer: peer, try RouteEnd.read(from: bytes, at: &position))
    case 3: message = .free(try number(bytes, &position))
    case 4: message = .send(try RouteSet.read(from: bytes, at: &position))
    case 5:
      let routes = try RouteSet.read(from: bytes, at: &position)
      message = .confirm(routes, token: try integer(bytes, &position))
    case 6:
      let route = try number(bytes, &position)
      message = .confirmed(route, token: try integer(bytes, &position))
    case 16: message = .route(try number(bytes, &position))
    case 17:
      let route = try number(bytes, &position)
      message = .unroute(route, try RouteEnd.read(from: bytes, at: &position))
    case 18: message = .from(try number(bytes, &position))
    case 19:
      let route = try number(bytes, &position)
      message = .confirming(route, token: try integer(bytes, &position))
    case 20:
      let route = try number(bytes, &position)
      message = .confirmation(route, token: try integer(bytes, &position))
    default: throw .unknownKind(kind)
    }
    switch message {
    case .send, .from: guard bytes.count - position <= Limits.message else { throw .malformed }
    case .route: break
    default: guard position == bytes.count else { throw .malformed }
    }
    offset = position
    return message
  }

  /// Appends the head; the caller then appends the payload.
  public func append(to bytes: inout [UInt8]) {
    bytes.append(kind)
    switch self {
    case .reach(let peer, let incarnation):
      bytes.append(contentsOf: peer)
      bytes.append(contentsOf: incarnation)
    case .unreach(let peer, let end):
      bytes.append(contentsOf: peer)
      end.append(to: &bytes)
    case .send(let routes): routes.append(to: &bytes)
    case .confirm(let routes, let token):
      routes.append(to: &bytes)
      Varint.append(token, to: &bytes)
    case .free(let route), .route(let route), .from(let route): Varint.append(UInt64(route), to: &bytes)
    case .unroute(let route, let end):
      Varint.append(UInt64(route), to: &bytes)
      end.append(to: &bytes)
    case .confirmed(let route, let token), .confirming(let route, let token), .confirmation(let route, let token):
      Varint.append(UInt64(route), to: &bytes)
      Varint.append(token, to: &bytes)
    }
  }

  /// Returns the head of the message, followed by `payload`.
  public func encoded(_ payload: some Collection<UInt8> = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 48)
    append(to: &bytes)
    bytes.append(contentsOf: payload)
    return bytes
  }

  private static func take(_ count: Int, _ bytes: Span<UInt8>, _ position: inout Int) throws(DecodingError) -> [UInt8] {
    guard bytes.count - position >= count else { throw .malformed }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for index in position..<position + count { result.append(bytes[index]) }
    position += count
    return result
  }

  private static func integer(_ bytes: Span<UInt8>, _ position: inout Int) throws(DecodingError) -> UInt64 {
    let value: UInt64?
    do { value = try Varint.read(from: bytes, at: &position) } catch { throw .malformed }
    guard let value, value < 1 << 53 else { throw .malformed }
    return value
  }

  private static func number(_ bytes: Span<UInt8>, _ position: inout Int) throws(DecodingError) -> UInt8 {
    guard let route = UInt8(exactly: try integer(bytes, &position)) else { throw .malformed }
    return route
  }
}

/// The reason why a route ended, sent as one byte.
public enum RouteEnd: UInt8, Sendable, CaseIterable {
  /// The other peer has a new route or link to the local peer, or withdrew its request for a route.
  case rerouted = 0
  /// Too many bytes were waiting for one of the two peers (RLY-12).
  case overrun = 1
  /// The other peer left the session.
  case left = 2
  /// The other peer's program shut down.
  case shuttingDown = 3
  /// The other peer disconnected only the local peer.
  case disconnected = 4
  /// The host removed the other peer.
  case kicked = 5
  /// The other peer did not answer for too long.
  case lost = 6
  /// The other peer restarted.
  case restarted = 7
  /// The other peer reports that the local peer violated the protocol.
  case protocolError = 8
  /// The other peer reports that the local peer is too slow.
  case tooSlow = 9
  /// The other peer or the relay gave up the connection.
  case reset = 10

  static func read(from bytes: Span<UInt8>, at offset: inout Int) throws(RelayMessage.DecodingError) -> RouteEnd {
    guard offset < bytes.count else { throw .malformed }
    defer { offset += 1 }
    // A route ends even if the reason is unknown.
    return RouteEnd(rawValue: bytes[offset]) ?? .lost
  }

  func append(to bytes: inout [UInt8]) { bytes.append(rawValue) }
}
