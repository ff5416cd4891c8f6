import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite struct ActionQueueTests {
  private let actions = ActionQueue()
  private let first = SigningID(number: 1)
  private let second = SigningID(number: 2)
  private let empty = [UInt8](repeating: 0, count: 64)
  private let signature = [UInt8](repeating: 7, count: 64)
  private let member = MemberID(publicKey: [1])
  private let other = MemberID(publicKey: [2])

  @Test("actions wait behind one that lacks a signature, in order") func order() {
    actions.append(.caughtUp(member))
    actions.append(.send([1] + empty, to: [member]), lacking: [SignatureGap(first)])
    actions.append(.caughtUp(other))
    actions.append(
      .send(empty + empty + [9], to: [member]),
      lacking: [SignatureGap(first, trailing: 65), SignatureGap(second, trailing: 1)]
    )
    #expect(actions.removeReady() == [.caughtUp(member)])
    actions.didSign(second, signature)
    #expect(actions.removeReady().isEmpty)
    actions.didSign(first, signature)
    #expect(
      actions.removeReady() == [
        .send([1] + signature, to: [member]), .caughtUp(other), .send(signature + signature + [9], to: [member]),
      ]
    )
  }

  @Test("requests and datagrams do not wait") func overtaking() {
    actions.append(.send(empty, to: [member]), lacking: [SignatureGap(first)])
    actions.queue(SyncDatagram.application([1]), to: [member])
    actions.request(.sign(SigningRequest(id: second, bytes: [])))
    #expect(actions.removeReady().count == 2)
  }

  @Test("waiting actions lose a recipient that has left") func departure() {
    actions.append(.send(empty, to: [member]), lacking: [SignatureGap(first)])
    actions.append(.send([5], to: [member, other]))
    actions.append(.caughtUp(member))
    actions.memberLeft(member)
    #expect(actions.removeReady() == [.send([5], to: [other]), .caughtUp(member)])
  }
}
