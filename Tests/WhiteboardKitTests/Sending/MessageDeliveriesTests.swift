import Testing

@testable import PeerSession
@testable import WhiteboardKit

/// The delivery of messages that their recipients must confirm.
@Suite struct MessageDeliveriesTests {
  private let anna = Self.peer(1)
  private let ben = Self.peer(2)
  private let toAnna = RouteLedger()
  private let toBen = RouteLedger()
  private var deliveries = MessageDeliveries()

  private static func peer(_ number: UInt8) -> PeerID {
    guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else {
      preconditionFailure("32 bytes are an id")
    }
    return peer
  }

  private func request(_ mark: String) -> CommandRequest {
    CommandRequest(.send(bytes: [1], to: [], isUnreliable: false), request: .word(mark))
  }

  private func receipt(_ peers: [PeerID]) -> SendReceipt {
    SendReceipt(
      tracks: peers.map { peer in
        let ledger = peer == anna ? toAnna : toBen
        return .init(peer: peer, joinGeneration: 1, means: .relay(ledger, ledger.countMessage()))
      }
    )
  }

  @Test mutating func `a message is answered when its last recipient confirms it`() {
    let number = deliveries.add(request("a"), byteCount: 1, to: [anna, ben])
    #expect(deliveries.taken(number, receipt([anna, ben])) == [anna, ben])
    #expect(deliveries.confirmed(upTo: number, by: ben).isEmpty)
    let answers = deliveries.confirmed(upTo: number, by: anna)
    #expect(answers.map(\.request.request) == [.word("a")])
    #expect(answers.first?.report.undelivered == [])
    #expect(deliveries.isEmpty && deliveries.lastTaken(for: anna) == nil)
  }

  @Test mutating func `a message takes room until it is answered`() {
    let number = deliveries.add(request("a"), byteCount: MessageDeliveries.capacity.bytes, to: [anna])
    #expect(!deliveries.hasRoom)
    _ = deliveries.taken(number, receipt([anna]))
    #expect(deliveries.confirmed(upTo: number, by: anna).count == 1)
    #expect(deliveries.hasRoom)
  }

  @Test mutating func `one confirmation covers all messages that were sent before it, and no others`() {
    let first = deliveries.add(request("a"), byteCount: 1, to: [anna])
    let second = deliveries.add(request("b"), byteCount: 1, to: [anna])
    _ = deliveries.add(request("c"), byteCount: 1, to: [anna])
    #expect(deliveries.taken(first, receipt([anna])) == [anna])
    #expect(deliveries.taken(second, receipt([anna])) == [])
    #expect(deliveries.lastTaken(for: anna)?.number == second)
    let answers = deliveries.confirmed(upTo: second, by: anna)
    #expect(answers.map(\.request.request) == [.word("a"), .word("b")])
    #expect(!deliveries.isEmpty && deliveries.lastTaken(for: anna) == nil)
  }

  @Test mutating func `if a recipient leaves, its unconfirmed messages end, whether queued or sent`() {
    let first = deliveries.add(request("a"), byteCount: 1, to: [anna, ben])
    let second = deliveries.add(request("b"), byteCount: 1, to: [anna])
    _ = deliveries.add(request("c"), byteCount: 1, to: [anna])
    let both = receipt([anna, ben])
    _ = deliveries.taken(first, both)
    _ = deliveries.taken(second, receipt([anna]))
    // Anna has confirmed both messages, but the board did not notice that before she left.
    toAnna.asked(1)
    toAnna.confirmed(1)
    let ended = deliveries.left(anna, name: "anna", reason: "lost")
    #expect(ended.undelivered == 1)
    #expect(ended.answers.map(\.request.request) == [.word("b"), .word("c")])
    #expect(ended.answers.map { $0.report.delivered } == [[anna.text], []])
    #expect(ended.answers.last?.report.undelivered == [.init(peer: anna.text, name: "anna", reason: "lost")])
    let rest = deliveries.confirmed(upTo: first, by: ben)
    #expect(rest.first?.report.delivered == [anna.text, ben.text])
    #expect(deliveries.isEmpty && deliveries.hasRoom)
  }

  @Test mutating func `a message to one process of a peer is not confirmed by the peer's next process`() {
    let old = deliveries.add(request("a"), byteCount: 1, to: [anna])
    _ = deliveries.left(anna, name: "anna", reason: "restarted")
    let new = deliveries.add(request("b"), byteCount: 1, to: [anna])
    #expect(deliveries.taken(old, receipt([anna])) == [])
    #expect(deliveries.lastTaken(for: anna) == nil)
    #expect(deliveries.taken(new, receipt([anna])) == [anna])
  }

  @Test mutating func `the numbers of messages and bytes are limited`() {
    let (messages, bytes) = MessageDeliveries.capacity
    var number = 0
    for _ in 0..<messages { number = deliveries.add(request("a"), byteCount: 1, to: [anna]) }
    #expect(!deliveries.hasRoom)
    #expect(deliveries.confirmed(upTo: number, by: anna).count == messages)
    #expect(deliveries.hasRoom)
    _ = deliveries.add(request("b"), byteCount: bytes, to: [anna])
    #expect(!deliveries.hasRoom)
  }
}
