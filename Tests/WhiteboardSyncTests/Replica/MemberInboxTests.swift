import BoardWorlds
import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite struct MemberInboxTests {
  private let member = MemberID(publicKey: [1])
  private var inbox = MemberInbox()

  private func request(_ number: UInt64) -> VerificationRequest {
    VerificationRequest(id: VerificationID(number: number, member: member), subject: .key([UInt8(number)]))
  }

  private func verification(_ numbers: UInt64...) -> VerificationState {
    var verification = VerificationState()
    for number in numbers { verification.add(request(number)) }
    return verification
  }

  @Test("messages come out in order, and only after the last check of the first") mutating func order() {
    inbox.wait([1], for: verification(1, 2))
    for number in 2...3 as ClosedRange<UInt8> {
      let hasRoom = inbox.append([number])
      #expect(hasRoom)
    }
    #expect(inbox.isWaiting && inbox.isVerifying)
    let early = inbox.removeNext()
    #expect(early == nil)
    for number in [2, 9, 2] as [UInt64] {
      let first = inbox.didVerify(request(number).id, isValid: true)
      #expect(first == nil)
    }
    let first = inbox.didVerify(request(1).id, isValid: false)
    #expect(first?.message == [1])
    #expect(first?.verification.results == [.key([1]): false, .key([2]): true])
    let second = inbox.removeNext()
    #expect(second == [2])
    // The second message waits again, and the third message waits behind it.
    inbox.wait([2], for: verification(3))
    let blocked = inbox.removeNext()
    #expect(blocked == nil)
    let again = inbox.didVerify(request(3).id, isValid: true)
    #expect(again?.message == [2])
    let rest = [inbox.removeNext(), inbox.removeNext()]
    #expect(rest == [[3], nil])
    #expect(!inbox.isWaiting)
  }

  @Test("messages behind the first have a limit, which they leave when they are removed") mutating func limit() {
    let half = [UInt8](repeating: 0, count: MemberInbox.byteLimit / 2 - 64)
    let large = [UInt8](repeating: 0, count: MemberInbox.byteLimit)
    inbox.wait([1], for: verification(1))
    var hadRoom = [inbox.append(half), inbox.append(half), inbox.append([])]
    #expect(hadRoom == [true, true, false])
    _ = inbox.didVerify(request(1).id, isValid: true)
    _ = inbox.removeNext()
    inbox.wait([1], for: verification(2))
    hadRoom = [inbox.append(large), inbox.append([])]
    #expect(hadRoom == [true, false])
  }

  @Test("[BRD-39] an early batch waits for five seconds, or until 4 MiB wait behind it") mutating func early() throws {
    let incarnation = ScriptedReplica(2).incarnation
    let id = ObjectID(Dot(incarnation, 1))
    let batch = try Batch(
      author: incarnation,
      firstSequence: 1,
      time: HybridTime(1 << 16),
      operations: [Operation(id, .kind, .unsigned(1))]
    )
    inbox.wait(EncodedBatch(batch), since: 100)
    #expect(inbox.isWaiting && !inbox.isVerifying)
    #expect(inbox.earlyBatch?.batch == batch)
    #expect(inbox.deadline == 5100)
    #expect(!inbox.isOverdue(5099))
    #expect(inbox.isOverdue(5100))
    _ = inbox.append([UInt8](repeating: 0, count: MemberInbox.earlyByteLimit - 65))
    #expect(!inbox.isOverdue(100))
    _ = inbox.append([])
    #expect(inbox.isOverdue(100))
    inbox.removeEarlyBatch()
    #expect(!inbox.isWaiting && inbox.deadline == nil)
  }
}
