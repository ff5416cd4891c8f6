/// What a member and a relay say to each other about others (`Protocol/session.md`, 11.2).
///
/// It is the content of a MESSAGE whose first part has flag 8. A payload follows the heads of
/// ``send(_:)`` and ``from(_:)``, and a member's JSON that of ``route(_:)``.
public enum RelayMessage: Equatable, Sendable {
  /// Member: carry me and this incarnation of that peer to each other.
  case reach(peer: [UInt8], incarnation: [UInt8])
  /// Member: carry us no longer, for this reason.
  case unreach(peer: [UInt8], RouteEnd)
  /// Member: the route's number may be used again.
  case free(UInt8)
  /// Member: the payload is for the peers at these routes.
  case send(RouteSet)
  /// Member: let the peers at these routes say when they have what went before.
  case confirm(RouteSet, token: UInt64)
  /// Member: answers ``confirming(_:token:)``.
  case confirmed(UInt8, token: UInt64)
  /// Relay: this number is the member that follows.
  case route(UInt8)
  /// Relay: the number leads nowhere any more.
  case unroute(UInt8, RouteEnd)
  /// Relay: the payload is from the peer at this route.
  case from(UInt8)
  /// Relay: the peer at this route wants to know that we have what went before.
  case confirming(UInt8, token: UInt64)
  /// Relay: the peer at this route answers ``confirm(_:token:)``.
  case confirmation(UInt8, token: UInt64)

  /// Whether a relay says it, and not a member.
  public var isRelays: Bool { kind >= 16 }

  /// The longest message with its head (RLY-5).
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

  /// Why bytes are not such a message; the link must be closed with `protocol-error` (RLY-5).
  public enum DecodingError: Error, Equatable, Sendable {
    /// No byte, or a kind that is not known.
    case unknownKind(UInt8?)
    /// A head that ends early, is out of range, or is followed by what does not belong.
    case malformed
  }

  /// Reads the head at the beginning and says where a payload begins.
  ///
  /// - Throws: ``DecodingError``.
  public static func read(
    from bytes: Span<UInt8>,
    payloadAt offset: inout Int
  ) throws(DecodingError) -> RelayMessage {
    guard let kind = bytes.isEmpty ? nil : bytes[0] else { throw .unknownKind(nil) }
    var position = 1
    let message: RelayMessage
    switch kind {
    case 1:
      message = .reach(
        peer: try take(32, bytes, &position),
        incarnation: try take(8, bytes, &position)
      )
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

  /// Appends the head; a payload follows it.
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
    case .free(let route), .route(let route), .from(let route):
      Varint.append(UInt64(route), to: &bytes)
    case .unroute(let route, let end):
      Varint.append(UInt64(route), to: &bytes)
      end.append(to: &bytes)
    case .confirmed(let route, let token), .confirming(let route, let token),
      .confirmation(let route, let token):
      Varint.append(UInt64(route), to: &bytes)
      Varint.append(token, to: &bytes)
    }
  }

  /// The message with what follows its head.
  public func encoded(_ payload: some Collection<UInt8> = []) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 48)
    append(to: &bytes)
    bytes.append(contentsOf: payload)
    return bytes
  }

  private static func take(
    _ count: Int,
    _ bytes: Span<UInt8>,
    _ position: inout Int
  ) throws(DecodingError) -> [UInt8] {
    guard bytes.count - position >= count else { throw .malformed }
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for index in position..<position + count { result.append(bytes[index]) }
    position += count
    return result
  }

  private static func integer(
    _ bytes: Span<UInt8>,
    _ position: inout Int
  ) throws(DecodingError) -> UInt64 {
    let value: UInt64?
    do {
      value = try Varint.read(from: bytes, at: &position)
    } catch {
      throw .malformed
    }
    guard let value, value < 1 << 53 else { throw .malformed }
    return value
  }

  private static func number(
    _ bytes: Span<UInt8>,
    _ position: inout Int
  ) throws(DecodingError) -> UInt8 {
    guard let route = UInt8(exactly: try integer(bytes, &position)) else { throw .malformed }
    return route
  }
}

/// Why a route ended; a byte on the wire.
public enum RouteEnd: UInt8, Sendable, CaseIterable {
  /// The other has another way to us now, or asks for none.
  case rerouted = 0
  /// Too much waited for one of the two (RLY-12).
  case overrun = 1
  /// The other said goodbye.
  case left = 2
  /// Its program ended.
  case shuttingDown = 3
  /// It disconnects from us alone.
  case disconnected = 4
  /// The host removed it.
  case kicked = 5
  /// It was silent for too long.
  case lost = 6
  /// It came anew.
  case restarted = 7
  /// It says that we broke a rule.
  case protocolError = 8
  /// It says that we are too slow.
  case tooSlow = 9
  /// The peer, or the relay, gave up on the connection.
  case reset = 10

  static func read(
    from bytes: Span<UInt8>,
    at offset: inout Int
  ) throws(RelayMessage.DecodingError) -> RouteEnd {
    guard offset < bytes.count else { throw .malformed }
    defer { offset += 1 }
    // A reason that this version does not know still ends the route.
    return RouteEnd(rawValue: bytes[offset]) ?? .lost
  }

  func append(to bytes: inout [UInt8]) { bytes.append(rawValue) }
}
