import NIOCore
import NIOPosix
import PeerCore
import PeerTestKit

@testable import PeerSession

/// A TCP proxy on loopback that cuts connections at seeded byte offsets, in both directions, or lets them stall in the
/// middle of a handshake.
final class CuttingProxy: Sendable {
  private struct State {
    var generator: SeededGenerator
    var cutsLeft: Int
    var cuts = 0
    var isStalling = false
    var plans: [(isUpstream: Bool, offset: Int)] = []
    var connections: [ObjectIdentifier: any Channel] = [:]
  }

  private let state: Locked<State>
  private let group: any EventLoopGroup
  private let target: PeerAddress
  private let offsets: ClosedRange<Int>
  private let listener = Locked<(any Channel)?>(nil)
  private let (pairs, paired) = AsyncStream<Void>.makeStream()
  private let (stalls, stalled) = AsyncStream<Void>.makeStream()

  /// Creates a proxy; `offsets` is the range of bytes, in either direction, after which a connection is cut.
  init(to target: PeerAddress, seed: UInt64, offsets: ClosedRange<Int>, group: any EventLoopGroup) {
    self.target = target
    self.offsets = offsets
    self.group = group
    self.state = Locked(State(generator: SeededGenerator(seed: seed), cutsLeft: 0))
  }

  /// The number of cut connections so far.
  var cuts: Int { state.withLock { $0.cuts } }

  func start() async throws -> PeerAddress {
    let channel = try await ServerBootstrap(group: group).serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false).childChannelInitializer { channel in self.pair(channel) }.bind(
        host: "127.0.0.1",
        port: 0
      ).get()
    listener.withLock { $0 = channel }
    return PeerAddress(host: "127.0.0.1", port: channel.localAddress?.port ?? 0)
  }

  /// Waits for the first connection through the proxy.
  func firstConnection() async { for await _ in pairs { return } }

  /// Cuts all current connections, and each further connection until `count` connections were cut.
  func cut(_ count: Int) {
    let open = state.withLock { state in
      state.cutsLeft = count
      return Array(state.connections.values)
    }
    for channel in open { channel.close(promise: nil) }
  }

  /// Cuts all current connections, and each later connection after the given number of bytes in a direction.
  func cut(next plans: [(isUpstream: Bool, offset: Int)]) {
    let open = state.withLock { state in
      state.plans = plans
      return Array(state.connections.values)
    }
    for channel in open { channel.close(promise: nil) }
  }

  /// Cuts all current connections.
  ///
  /// On each later connection, the listener receives only the first record of TLS. This is enough for the dialler to
  /// finish its own part of TLS.
  func stall() {
    let open = state.withLock { state in
      state.isStalling = true
      return Array(state.connections.values)
    }
    for channel in open { channel.close(promise: nil) }
  }

  /// Waits until a dialler has sent more than the listener receives.
  func firstStall() async { for await _ in stalls { return } }

  /// Cuts the stalled connections, and forwards later connections completely.
  func resume() {
    let open = state.withLock { state in
      state.isStalling = false
      return Array(state.connections.values)
    }
    for channel in open { channel.close(promise: nil) }
  }

  /// Cuts all connections, and accepts no more.
  func stop() async throws {
    try await listener.withLock { $0 }?.close()
    for channel in state.withLock({ Array($0.connections.values) }) {
      // The remaining side must not be able to say goodbye on this connection.
      try? await channel.close()
    }
  }

  private func pair(_ inbound: any Channel) -> EventLoopFuture<Void> {
    // The end of this connection: a direction and an offset, or no end.
    let plan = state.withLock { state -> (isUpstream: Bool, offset: Int)? in
      if !state.plans.isEmpty { return state.plans.removeFirst() }
      guard state.cutsLeft > 0 else { return nil }
      return (Bool.random(using: &state.generator), Int.random(in: offsets, using: &state.generator))
    }
    return ClientBootstrap(group: inbound.eventLoop).channelOption(.autoRead, value: false).connect(
      host: target.host,
      port: target.port
    ).flatMap { outbound in
      inbound.eventLoop.makeCompletedFuture {
        let cut: @Sendable () -> Void = {
          self.state.withLock {
            $0.cuts += 1
            $0.cutsLeft = max(0, $0.cutsLeft - 1)
          }
          inbound.close(promise: nil)
          outbound.close(promise: nil)
        }
        let up = plan.flatMap { $0.isUpstream ? $0.offset : nil }
        let down = plan.flatMap { $0.isUpstream ? nil : $0.offset }
        if self.state.withLock({ $0.isStalling }) {
          let staller = Staller(to: outbound) { self.stalled.yield() }
          try inbound.pipeline.syncOperations.addHandler(staller)
        } else {
          try inbound.pipeline.syncOperations.addHandler(Forwarder(to: outbound, limit: up, cut))
        }
        try outbound.pipeline.syncOperations.addHandler(Forwarder(to: inbound, limit: down, cut))
        self.state.withLock { $0.connections[ObjectIdentifier(inbound)] = inbound }
        self.paired.yield()
        inbound.closeFuture.whenComplete { _ in
          self.state.withLock { $0.connections[ObjectIdentifier(inbound)] = nil }
        }
      }
    }
  }
}

/// Copies bytes to the other channel, up to its limit.
private final class Forwarder: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private var left: Int?
  private let cut: @Sendable () -> Void

  init(to other: any Channel, limit: Int?, _ cut: @escaping @Sendable () -> Void) {
    self.other = other
    self.left = limit
    self.cut = cut
  }

  func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { context.read() } }

  func channelActive(context: ChannelHandlerContext) { context.read() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    if let limit = left {
      if buffer.readableBytes >= limit {
        left = nil
        let last = buffer.readSlice(length: limit) ?? ByteBuffer()
        let cut = cut
        other.writeAndFlush(last).whenComplete { _ in cut() }
        return
      }
      left = limit - buffer.readableBytes
    }
    other.writeAndFlush(buffer).whenComplete { _ in bound.value.read() }
  }

  func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Copies the first record of TLS to the other channel, and discards the rest.
private final class Staller: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel
  private let onStall: @Sendable () -> Void
  private var first = ByteBuffer()
  private var hasPassed = false

  init(to other: any Channel, _ onStall: @escaping @Sendable () -> Void) {
    self.other = other
    self.onStall = onStall
  }

  func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { context.read() } }

  func channelActive(context: ChannelHandlerContext) { context.read() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    context.read()
    guard !hasPassed else { return onStall() }
    first.writeBuffer(&buffer)
    guard let length = first.getInteger(at: first.readerIndex + 3, as: UInt16.self),
      let record = first.readSlice(length: 5 + Int(length))
    else { return }
    hasPassed = true
    other.writeAndFlush(record, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { other.close(promise: nil) }
}
