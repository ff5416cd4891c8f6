import Testing

@testable import WhiteboardSync

@Suite struct MemberInboxTests {
  private func message(_ inbox: inout MemberInbox) -> [UInt8]? {
    guard case .message(let bytes)? = inbox.removeFirst()?.item else { return nil }
    return bytes
  }

  @Test("items come out in order, and only after the checks of the first")
  func order() {
    var inbox = MemberInbox()
    var verification = VerificationState()
    let id = VerificationID(number: 1)
    verification.add([VerificationRequest(id: id, subject: .key([4]))])
    inbox.insertFirst(.message([1]), verification)
    for number in 2...3 as ClosedRange<UInt8> {
      let hasRoom = inbox.append(.message([number]))
      #expect(hasRoom)
    }
    let early = message(&inbox)
    #expect(early == nil)
    inbox.didVerify(id, isValid: true)
    let results = inbox.removeFirst()?.verification.results
    #expect(results == [.key([4]): true])
    let second = message(&inbox)
    #expect(second == [2])
    // The second must wait again.
    inbox.insertFirst(.message([2]), VerificationState())
    let rest = [message(&inbox), message(&inbox)]
    #expect(rest == [[2], [3]])
    #expect(inbox.isEmpty)
  }

  @Test("only messages count toward the limit, until they are removed")
  func limit() {
    var inbox = MemberInbox()
    let half = [UInt8](repeating: 0, count: MemberInbox.byteLimit / 2 - 64)
    let items: [MemberInbox.Item] = [
      .answer(half, request: 1), .message(half), .message(half), .message([]),
    ]
    var hadRoom: [Bool] = []
    for item in items { hadRoom.append(inbox.append(item)) }
    #expect(hadRoom == [true, true, true, false])
    #expect(inbox.containsAnswer)
  }
}
