import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite struct OutboxTests {
  private let outbox = Outbox()
  private let first = SigningID(number: 1)
  private let second = SigningID(number: 2)
  private let empty = [UInt8](repeating: 0, count: 64)
  private let signature = [UInt8](repeating: 7, count: 64)
  private let member = MemberID(publicKey: [1])
  private let other = MemberID(publicKey: [2])

  @Test("actions wait behind one that lacks a signature, in order")
  func order() {
    outbox.append(.caughtUp(member))
    outbox.append(.send([1] + empty, to: [member]), lacking: [SignatureGap(first)])
    outbox.append(.caughtUp(other))
    outbox.append(
      .send(empty + empty + [9], to: [member]),
      lacking: [SignatureGap(first, trailing: 65), SignatureGap(second, trailing: 1)]
    )
    #expect(outbox.removeReady() == [.caughtUp(member)])
    outbox.didSign(second, signature)
    #expect(outbox.removeReady().isEmpty)
    outbox.didSign(first, signature)
    #expect(
      outbox.removeReady() == [
        .send([1] + signature, to: [member]), .caughtUp(other),
        .send(signature + signature + [9], to: [member]),
      ]
    )
  }

  @Test("requests and datagrams do not wait")
  func overtaking() {
    outbox.append(.send(empty, to: [member]), lacking: [SignatureGap(first)])
    outbox.send(SyncDatagram.application([1]), to: [member])
    outbox.request(.sign(SigningRequest(id: second, bytes: [])))
    #expect(outbox.removeReady().count == 2)
  }

  @Test("waiting actions lose a recipient that has left")
  func departure() {
    outbox.append(.send(empty, to: [member]), lacking: [SignatureGap(first)])
    outbox.append(.send([5], to: [member, other]))
    outbox.append(.caughtUp(member))
    outbox.memberLeft(member)
    #expect(outbox.removeReady() == [.send([5], to: [other]), .caughtUp(member)])
  }
}
