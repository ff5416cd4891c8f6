import PeerCore
import PeerSession

/// The unanswered messages of `send`, and their delivery to each recipient. A message is answered once, when every
/// recipient has confirmed it or can no longer confirm it. Performs no I/O. Confined to the board's actor.
struct MessageDeliveries {
  struct Answer {
    var request: CommandRequest
    var report: DeliveryReport
  }

  private struct Message {
    var request: CommandRequest
    var byteCount: Int
    /// The number of recipients that have neither confirmed the message nor left.
    var open: Int
    var report = DeliveryReport()
  }

  private struct Recipient {
    var messages: [(number: Int, receipt: SendReceipt?)] = []
    /// The number of messages that the session accepted; only these messages have a receipt.
    var taken = 0
    var isConfirming = false
  }

  private var messages: [Int: Message] = [:]
  private var recipients: [PeerID: Recipient] = [:]
  private var last = 0
  private var byteCount = 0

  /// The maximum numbers of unanswered messages and of their bytes. When a limit is reached, `send` waits.
  static let capacity = (messages: 16_384, bytes: SendQueue.patience)

  var hasRoom: Bool { messages.count < Self.capacity.messages && byteCount < Self.capacity.bytes }
  var isEmpty: Bool { messages.isEmpty }

  /// Call this method before the message is queued, with at least one recipient and no duplicates; returns the number
  /// of the message.
  mutating func add(_ request: CommandRequest, byteCount: Int, to peers: [PeerID]) -> Int {
    last += 1
    messages[last] = Message(request: request, byteCount: byteCount, open: peers.count)
    self.byteCount += byteCount
    for peer in peers { recipients[peer, default: Recipient()].messages.append((last, nil)) }
    return last
  }

  /// The session accepted a message for some of its recipients. The caller must send a confirmation request to each
  /// returned recipient.
  mutating func taken(_ number: Int, _ receipt: SendReceipt) -> [PeerID] {
    var unasked: [PeerID] = []
    for peer in receipt.peers {
      guard var recipient = recipients[peer], recipient.taken < recipient.messages.count,
        recipient.messages[recipient.taken].number == number
      else { continue }
      recipient.messages[recipient.taken].receipt = receipt
      recipient.taken += 1
      if !recipient.isConfirming {
        recipient.isConfirming = true
        unasked.append(peer)
      }
      recipients[peer] = recipient
    }
    return unasked
  }

  /// Returns the last message that the session accepted for a recipient, if it is not confirmed. If the result is nil,
  /// the recipient has no pending confirmation request until the session accepts another message for this recipient.
  mutating func lastTaken(for peer: PeerID) -> (number: Int, receipt: SendReceipt)? {
    guard let recipient = recipients[peer], recipient.taken > 0,
      let receipt = recipient.messages[recipient.taken - 1].receipt
    else {
      recipients[peer]?.isConfirming = false
      return nil
    }
    return (recipient.messages[recipient.taken - 1].number, receipt)
  }

  /// A recipient confirmed all messages up to `number`. Returns the answers to messages that wait for no other
  /// recipient.
  mutating func confirmed(upTo number: Int, by peer: PeerID) -> [Answer] {
    guard var recipient = recipients[peer] else { return [] }
    let count = recipient.messages.prefix { $0.number <= number }.count
    let confirmed = recipient.messages.prefix(count).map(\.number)
    recipient.messages.removeFirst(count)
    recipient.taken = max(0, recipient.taken - count)
    recipients[peer] = recipient
    return confirmed.compactMap { number in settle(number) { $0.delivered.append(peer.text) } }
  }

  /// Returns the answers to messages that wait for no other recipient, and the number of messages that `peer` did not
  /// confirm.
  mutating func left(_ peer: PeerID, name: UntrustedText, reason: String) -> (answers: [Answer], undelivered: Int) {
    guard let recipient = recipients.removeValue(forKey: peer) else { return ([], 0) }
    var answers: [Answer] = []
    var undelivered = 0
    for (number, receipt) in recipient.messages {
      let isConfirmed = receipt?.isConfirmed(by: peer) ?? false
      if !isConfirmed { undelivered += 1 }
      let answer = settle(number) { report in
        if isConfirmed {
          report.delivered.append(peer.text)
        } else {
          report.undelivered.append(.init(peer: peer.text, name: name, reason: reason))
        }
      }
      if let answer { answers.append(answer) }
    }
    return (answers, undelivered)
  }

  var peers: [PeerID] { recipients.filter { !$0.value.messages.isEmpty }.keys.sorted() }

  private mutating func settle(_ number: Int, _ note: (inout DeliveryReport) -> Void) -> Answer? {
    guard var message = messages[number] else { return nil }
    note(&message.report)
    message.open -= 1
    guard message.open == 0 else {
      messages[number] = message
      return nil
    }
    messages[number] = nil
    byteCount -= message.byteCount
    return Answer(request: message.request, report: message.report)
  }
}
