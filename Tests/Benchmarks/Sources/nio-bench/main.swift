// The least that a session on SwiftNIO could be: frames with a length, over TLS 1.3, between two processes on loopback.
//
//     nio-bench server KEY CERTIFICATE
//     nio-bench round-trip|messages PORT COUNT LENGTH
//
// The server prints its port, and serves until it is killed. A client prints one line of JSON, like session-bench.
// `messages` sends from a thread that is not the event loop's, through a locked outbox that wakes the event loop once for
// everything that waits. Nothing is confirmed, stored or checked.

import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// The first byte of a connection.
let echo: UInt8 = 0
let count: UInt8 = 1

struct Frames: ByteToMessageDecoder {
  typealias InboundOut = ByteBuffer

  mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) -> DecodingState {
    guard let message = buffer.readLengthPrefixedSlice(as: UInt32.self) else { return .needMoreData }
    context.fireChannelRead(wrapInboundOut(message))
    return .continue
  }
}

extension ByteBuffer {
  mutating func write(frame message: ByteBuffer) {
    writeInteger(UInt32(message.readableBytes))
    writeImmutableBuffer(message)
  }
}

/// Sends each message back, or one message after the last of them.
final class Server: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private var isEcho = false
  private var left: Int?

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var message = unwrapInboundIn(data)
    guard let left else {
      isEcho = message.readInteger() == echo
      self.left = message.readInteger(as: Int.self)
      return
    }
    self.left = left - 1
    guard isEcho || left == 1 else { return }
    var answer = ByteBuffer()
    answer.write(frame: message)
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
  }
}

/// Sends a message when the one before has come back, and records the times.
final class RoundTrips: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let message: ByteBuffer
  private let count: Int
  private let promise: EventLoopPromise<[Duration]>
  private var durations: [Duration] = []
  private var sent = ContinuousClock.now

  init(_ message: ByteBuffer, count: Int, promise: EventLoopPromise<[Duration]>) {
    self.message = message
    self.count = count
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    durations.append(.now - sent)
    if durations.count == count { promise.succeed(durations) } else { send(context) }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is GoAhead { send(context) }
  }

  private func send(_ context: ChannelHandlerContext) {
    sent = .now
    context.writeAndFlush(wrapOutboundOut(message), promise: nil)
  }
}

struct GoAhead: Sendable {}

/// Messages that wait for the event loop. `send` waits while they have more than 4 MiB. Safe, because the condition
/// protects the variables.
final class Outbox: @unchecked Sendable {
  private let channel: any Channel
  private let condition = NSCondition()
  private var waiting = ByteBuffer()
  private var isWriting = false

  init(_ channel: any Channel) { self.channel = channel }

  func send(_ message: ByteBuffer) {
    condition.lock()
    while waiting.readableBytes > 4 << 20 { condition.wait() }
    waiting.write(frame: message)
    let wakes = !isWriting
    isWriting = true
    condition.unlock()
    if wakes { channel.eventLoop.execute { self.drain() } }
  }

  private func drain() {
    condition.lock()
    let bytes = waiting
    waiting = ByteBuffer()
    isWriting = bytes.readableBytes > 0
    condition.signal()
    condition.unlock()
    guard bytes.readableBytes > 0 else { return }
    channel.writeAndFlush(bytes).whenComplete { _ in self.drain() }
  }
}

let words = CommandLine.arguments.dropFirst()
let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
switch (words.first, words.count) {
case ("server", 3):
  let arguments = Array(words)
  var tls = TLSConfiguration.makeServerConfiguration(
    certificateChain: try NIOSSLCertificate.fromPEMFile(arguments[2]).map { .certificate($0) },
    privateKey: .privateKey(try NIOSSLPrivateKey(file: arguments[1], format: .pem))
  )
  tls.minimumTLSVersion = .tlsv13
  let context = try NIOSSLContext(configuration: tls)
  let channel = try ServerBootstrap(group: group).childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
    .childChannelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandlers(
          NIOSSLServerHandler(context: context),
          ByteToMessageHandler(Frames()),
          Server()
        )
      }
    }
    .bind(host: "127.0.0.1", port: 0).wait()
  print(channel.localAddress?.port ?? 0)
  fflush(nil)
  try channel.closeFuture.wait()
case ("round-trip", 4), ("messages", 4):
  let arguments = Array(words)
  guard let port = Int(arguments[1]), let number = Int(arguments[2]), let length = Int(arguments[3]) else { exit(64) }
  let isEcho = arguments[0] == "round-trip"
  let warmUp = isEcho ? 1_000 : 0
  var tls = TLSConfiguration.makeClientConfiguration()
  tls.certificateVerification = .none
  let context = try NIOSSLContext(configuration: tls)
  let message = ByteBuffer(repeating: 0x5A, count: length)
  var first = ByteBuffer()
  first.write(
    frame: ByteBuffer(
      bytes: [isEcho ? echo : count] + (0..<8).map { UInt8(truncatingIfNeeded: (number + warmUp) >> (56 - 8 * $0)) }
    )
  )
  let promise = group.next().makePromise(of: [Duration].self)
  let channel = try ClientBootstrap(group: group).channelOption(.tcpOption(.tcp_nodelay), value: 1)
    .channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        var framed = ByteBuffer()
        framed.write(frame: message)
        let answers = RoundTrips(framed, count: isEcho ? number + warmUp : 1, promise: promise)
        try channel.pipeline.syncOperations.addHandlers(
          NIOSSLClientHandler(context: context, serverHostname: nil),
          ByteToMessageHandler(Frames()),
          answers
        )
      }
    }
    .connect(host: "127.0.0.1", port: port).wait()
  try channel.writeAndFlush(first).wait()
  let start = ContinuousClock.now
  if isEcho {
    channel.pipeline.fireUserInboundEventTriggered(GoAhead())
    let sorted = try promise.futureResult.wait().dropFirst(warmUp).sorted()
    print(
      "{\"p50\": \(sorted[number / 2] / .microseconds(1)), \"p99\": \(sorted[number * 99 / 100] / .microseconds(1))}"
    )
  } else {
    let outbox = Outbox(channel)
    for _ in 0..<number { outbox.send(message) }
    _ = try promise.futureResult.wait()
    print("{\"rate\": \(Double(number) / ((.now - start) / .seconds(1)))}")
  }
default:
  print("nio-bench server|round-trip|messages …: see the top of main.swift.")
  exit(64)
}
