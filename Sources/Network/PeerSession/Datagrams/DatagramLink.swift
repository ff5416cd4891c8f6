import NIOCore
import NIOPosix
import PeerCore
import PeerWire

/// Sends and receives the datagrams of one control link (7). Confined to the control event loop. This object is used
/// only while its link is open (DGM-5).
final class DatagramLink {
  private let transport: TransportCore
  private let link: ControlLink
  private var sealer: DatagramSealer
  private var opener: DatagramOpener
  private var pathState: DatagramPathState
  private var assembler = DatagramAssembler()
  private var relayAssembler = DatagramAssembler(limit: Limits.relayDatagram)
  private var remote: SocketAddress?
  private var isClosed = false

  private let received: ([UInt8], _ isRelays: Bool) -> Void
  private let pathChanged: (DatagramPath) -> Void

  /// Creates the datagram state of an open link, or returns `nil` if the link has no TLS exporter. `remote` is the
  /// peer's UDP address, derived from its TCP address, or `nil` if the peer does not listen. `received` is called for
  /// each message. The argument `isRelays` is true for a message between a member and a relay. `pathChanged` is called
  /// when messages start to use a different path.
  init?(
    _ transport: TransportCore,
    _ link: ControlLink,
    remote: SocketAddress?,
    received: @escaping ([UInt8], _ isRelays: Bool) -> Void,
    pathChanged: @escaping (DatagramPath) -> Void
  ) {
    guard let secret = link.facts.exporter?.export(.datagram) else { return nil }
    let local: DatagramSender = link.side == .dialler ? .dialler : .listener
    self.transport = transport
    self.link = link
    self.sealer = DatagramSealer(secret: secret, sender: local)
    self.opener = DatagramOpener(secret: secret, sender: local.other)
    self.pathState = DatagramPathState(firstProbe: .random(in: .min ... .max), now: Self.now())
    self.remote = remote
    self.received = received
    self.pathChanged = pathChanged
    transport.datagramLinks[opener.keyID] = self
  }

  private static func now() -> UInt64 { NIODeadline.now().uptimeNanoseconds / 1_000_000 }

  var path: DatagramPath { pathState.usesPackets ? .udp : .link }

  func close() {
    isClosed = true
    if transport.datagramLinks[opener.keyID] === self { transport.datagramLinks[opener.keyID] = nil }
  }

  /// Sends a message or drops it, without waiting (DGM-8, DGM-9).
  func send(_ message: [UInt8], isRelays: Bool = false) {
    guard !isClosed else { return }
    if pathState.usesPackets, let packets = try? sealer.seal(message: message, isRelays: isRelays) {
      for packet in packets { write(packet) }
    } else if link.isWritable, message.count <= Limits.framePayload {
      link.send(isRelays ? .relayDatagram : .datagram, message)
    }
  }

  /// When to call ``tick(_:)`` next; `nil` if there is no address to probe, or if one call per second is enough.
  var nextDue: NIODeadline? {
    remote != nil && pathState.isOpening ? .uptimeNanoseconds(pathState.wakeAt * 1_000_000) : nil
  }

  func tick(_ now: NIODeadline) {
    let milliseconds = now.uptimeNanoseconds / 1_000_000
    guard remote != nil, milliseconds >= pathState.wakeAt else { return }
    perform(pathState.timePassed(now: milliseconds))
    assembler.expire(now: milliseconds)
    relayAssembler.expire(now: milliseconds)
  }

  private func perform(_ action: DatagramPathState.Action) {
    if let probe = action.probe { send(.probe(probe)) }
    if action.usesPackets != nil { pathChanged(path) }
  }

  private func send(_ content: DatagramContent) {
    guard let packet = try? sealer.seal(content) else { return }
    write(packet)
    transport.flushDatagrams()
  }

  private func write(_ packet: [UInt8]) { if let remote { transport.writeDatagram(packet, to: remote) } }

  /// Handles a packet that carries this link's key id; an invalid packet is dropped (DGM-2).
  func packetReceived(_ packet: [UInt8], from source: SocketAddress) {
    let now = Self.now()
    guard !isClosed, let opened = try? opener.open(packet, now: now) else { return }
    if opened.isNewest && source != remote { remote = source }
    switch opened.content {
    case .message: received(opened.bytes, false)
    case .relayMessage: received(opened.bytes, true)
    case .piece(let piece):
      let outcome = assembler.receive(piece, bytes: opened.bytes.span, now: now)
      if case .complete(let message) = outcome { received(message, false) }
    case .relayPiece(let piece):
      let outcome = relayAssembler.receive(piece, bytes: opened.bytes.span, now: now)
      if case .complete(let message) = outcome { received(message, true) }
    case .probe(let value): send(.answer(value))
    case .answer(let value): perform(pathState.answered(value, now: now))
    }
  }
}

extension SessionCore {
  func startDatagrams(_ entry: PeerEntry, _ link: ControlLink) {
    entry.datagrams?.close()
    var remote: SocketAddress?
    if entry.member.port > 0, let host = link.remote?.host {
      remote = try? .makeScoped(host: host, port: entry.member.port)
    }
    let peer = entry.id
    entry.datagrams = DatagramLink(transport, link, remote: remote) { [self] message, isRelays in
      if isRelays { return relaying.receivedDatagram(message, peer) }
      // Packets have no back-pressure, so excess packets are dropped (DGM-8).
      guard !reading.isApplicationBehind else { return }
      emit(.datagram(message, from: peer), bytes: message.count)
    } pathChanged: { [self] path in
      emit(.datagramPath(peer, path))
      publish()
    }
    entry.datagrams?.tick(.now())
  }

  func sendDatagrams(_ messages: [DatagramQueue.Message]) {
    for message in messages {
      let peers = message.peers ?? entries.values.filter(\.isJoined).map(\.id)
      for peer in peers { entries[peer]?.datagrams?.send(message.bytes) }
      relaying.sendDatagram(message.bytes, to: peers)
    }
    transport.flushDatagrams()
  }
}

/// A bounded queue that passes unreliable messages from any task to the event loop. A full queue drops its oldest
/// message.
final class DatagramQueue: Sendable {
  struct Message: Sendable {
    var bytes: [UInt8]
    var peers: [PeerID]?
  }

  private static let maximumMessages = 256
  private static let maximumBytes = 1 << 20

  private let state = Locked<(messages: CircularBuffer<Message>, bytes: Int)>((CircularBuffer(), 0))

  /// Returns whether the queue was empty; if so, the caller must wake the event loop.
  func append(_ bytes: [UInt8], _ peers: [PeerID]?) -> Bool {
    state.withLock { state in
      let wasEmpty = state.messages.isEmpty
      state.messages.append(Message(bytes: bytes, peers: peers))
      state.bytes += bytes.count
      while state.messages.count > Self.maximumMessages || state.bytes > Self.maximumBytes, state.messages.count > 1 {
        state.bytes -= state.messages.removeFirst().bytes.count
      }
      return wasEmpty
    }
  }

  func removeAll() -> [Message] {
    state.withLock { state in
      defer { state = (CircularBuffer(), 0) }
      return Array(state.messages)
    }
  }
}

/// Uses probes to decide whether messages are sent as UDP packets or on the control link (DGM-9, DGM-10). The caller
/// passes the time in milliseconds, which must never decrease. The caller also calls ``timePassed(now:)`` at `wakeAt`,
/// reports received answers, and answers the other side's probes.
struct DatagramPathState: Sendable {
  /// The time between probes until the first answer, in milliseconds.
  static let firstInterval: UInt64 = 200
  /// The time between probes after the first answer, in milliseconds.
  static let interval: UInt64 = 5_000
  static let firstUnansweredLimit = 5
  static let unansweredLimit = 2

  struct Action: Equatable, Sendable {
    var probe: UInt64?
    /// Whether to use packets from now on; `nil` if there is nothing to report. The value is set if the choice changed
    /// or the first attempt failed.
    var usesPackets: Bool?
  }

  private enum Stage: Sendable {
    case opening
    case passing
    case fallenBack
  }

  private var stage = Stage.opening
  private var unanswered = 0
  private var lastSent: UInt64
  private var lastAnswered: UInt64
  private(set) var wakeAt: UInt64

  var isOpening: Bool { stage == .opening }
  var usesPackets: Bool { stage == .passing }

  /// The first probe is due immediately; ``timePassed(now:)`` returns it.
  init(firstProbe: UInt64, now: UInt64) {
    lastSent = firstProbe &- 1
    lastAnswered = lastSent
    wakeAt = now
  }

  mutating func timePassed(now: UInt64) -> Action {
    guard now >= wakeAt else { return Action() }
    var action = Action()
    switch stage {
    case .opening where unanswered >= Self.firstUnansweredLimit, .passing where unanswered >= Self.unansweredLimit:
      stage = .fallenBack
      action.usesPackets = false
    default: break
    }
    lastSent &+= 1
    unanswered += 1
    wakeAt = now + (stage == .opening ? Self.firstInterval : Self.interval)
    action.probe = lastSent
    return action
  }

  /// An answer is accepted if its probe was sent after the last answered probe, even if newer probes were sent since.
  /// Answers can arrive late on a slow path. All other answers are ignored.
  mutating func answered(_ probe: UInt64, now: UInt64) -> Action {
    let ahead = probe &- lastAnswered
    guard ahead >= 1, ahead <= lastSent &- lastAnswered else { return Action() }
    lastAnswered = probe
    unanswered = 0
    guard stage != .passing else { return Action() }
    stage = .passing
    wakeAt = now + Self.interval
    return Action(usesPackets: true)
  }
}

/// Reads the UDP socket and passes each packet to the link with its key id. A packet that belongs to no link is dropped
/// without being opened. The handler never answers a packet.
private final class DatagramSocketHandler: ChannelInboundHandler {
  typealias InboundIn = AddressedEnvelope<ByteBuffer>

  private let transport: TransportCore

  init(_ transport: TransportCore) { self.transport = transport }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let envelope = unwrapInboundIn(data)
    let packet = Array(envelope.data.readableBytesView)
    guard let header = try? PacketHeader.read(packet: packet.span), let link = transport.datagramLinks[header.keyID]
    else { return }
    link.packetReceived(packet, from: envelope.remoteAddress)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    for session in transport.sessions.values { session.deliverEvents() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // An ICMP error from one peer must not close the socket that all peers share.
  }
}

extension TransportCore {
  private static let packetsPerRead = 32

  func bindDatagrams(_ address: SocketAddress, on interface: CInt) -> EventLoopFuture<any Channel> {
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let bootstrap = DatagramBootstrap(group: eventLoop)
    return (interface == 0 ? bootstrap : bootstrap.channelOption(.boundInterface, value: Int(interface))).channelOption(
      .datagramVectorReadMessageCount,
      value: Self.packetsPerRead
    )  // One read returns many packets, so a second read would rarely find any.
    .channelOption(.maxMessagesPerRead, value: 1).channelOption(
      .recvAllocator,
      value: FixedSizeRecvByteBufferAllocator(capacity: Self.packetsPerRead * 2_048)
    ).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(DatagramSocketHandler(bound.value))
      }
    }.bind(to: address)
  }

  func writeDatagram(_ packet: [UInt8], to remote: SocketAddress) {
    guard let channel = datagramChannel, channel.isWritable else { return }
    channel.write(AddressedEnvelope(remoteAddress: remote, data: ByteBuffer(bytes: packet)), promise: nil)
  }

  func flushDatagrams() { datagramChannel?.flush() }
}
