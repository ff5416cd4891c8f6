import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Sends application messages, answers `send` when the recipients have confirmed the message, and reports incoming
/// messages. Confined to the actor of its board.
final class ApplicationMessages {
  private let runtime: BoardRuntime
  private let session: Session
  private let replica: Replica
  /// The reference is weak because the open board owns this object.
  private weak var active: ActiveBoard?
  private let members: Members
  private let outbox: BoardOutbox
  private let answers: CommandAnswers
  private var deliveries = MessageDeliveries()

  init(
    _ runtime: BoardRuntime,
    _ session: Session,
    _ replica: Replica,
    of active: ActiveBoard,
    members: Members,
    outbox: BoardOutbox,
    answers: CommandAnswers
  ) {
    self.runtime = runtime
    self.session = session
    self.replica = replica
    self.active = active
    self.members = members
    self.outbox = outbox
    self.answers = answers
  }

  // MARK: - Sending

  /// Returns all members if `words` is empty; throws if a word names no member, or no member is connected.
  func recipients(_ words: [String]) throws(CommandError) -> [PeerID] {
    guard !members.isEmpty else {
      throw CommandError(.notConnected, "no other member is connected; `wait peers=1` waits for a member")
    }
    guard !words.isEmpty else { return members.ids }
    var peers: [PeerID] = []
    for word in words {
      let peer = try members.find(word)
      if !peers.contains(peer) { peers.append(peer) }
    }
    return peers
  }

  func sendDatagram(_ bytes: [UInt8], to words: [String]) throws(CommandError) {
    let peers = try recipients(words)
    guard bytes.count <= CommandLimits.maximumDatagramLength else {
      throw CommandError(
        .tooBig,
        "with --unreliable, a message may have at most \(CommandLimits.maximumDatagramLength) bytes; "
          + "this message can be sent without --unreliable"
      )
    }
    active?.perform(replica.sendData(bytes, to: peers.map { MemberID($0) }, isReliable: false, now: runtime.now))
  }

  /// Queues a message; returns before the recipients confirm it, so that later commands can run.
  nonisolated(nonsending) func send(_ bytes: [UInt8], to words: [String], answering request: CommandRequest)
    async throws(CommandError)
  {
    // Later commands wait too, so that the number of messages to a slow peer is bounded and no message is dropped.
    _ = await runtime.wait { self.deliveries.hasRoom }
    guard runtime.ending == nil else { throw CommandError(.ending, "the program ends") }
    let peers = try recipients(words)
    let message = SyncMessage.application(bytes).encode()
    let number = deliveries.add(request, byteCount: message.count, to: peers)
    outbox.enqueue(message, to: peers, as: number)
  }

  // MARK: - Confirmations

  var isEmpty: Bool { deliveries.isEmpty }

  /// Requests confirmations of a message that the session accepted.
  func accepted(_ number: Int, _ receipt: SendReceipt) {
    for peer in deliveries.taken(number, receipt) {
      runtime.spawn { sharedBoard in await sharedBoard.board?.messages.awaitConfirmations(by: peer) }
    }
  }

  private nonisolated(nonsending) func awaitConfirmations(by peer: PeerID) async {
    defer { checkIsolation(#isolation) }
    // Confirmations come in order, so one request covers all messages accepted so far.
    while let (number, receipt) = deliveries.lastTaken(for: peer) {
      do throws(SessionError) { try await session.confirmation(of: receipt, by: peer) } catch {
        // The peer left, or the board was closed. The next event of the session reports that the peer left.
        return
      }
      answer(deliveries.confirmed(upTo: number, by: peer))
    }
  }

  /// Ends the deliveries to a peer that left. `report` receives the number of unconfirmed messages, and emits the event
  /// that the peer left before the answers.
  func endDeliveries(to peer: PeerID, reason: String, _ report: (Int) -> Void = { _ in }) {
    let (ended, undelivered) = deliveries.left(peer, name: members.name(of: peer), reason: reason)
    report(undelivered)
    answer(ended)
  }

  /// Waits until all messages are confirmed; at `limit`, ends the remaining deliveries.
  nonisolated(nonsending) func finish(before limit: ContinuousClock.Instant) async {
    while runtime.clock.now < limit, !deliveries.isEmpty { try? await runtime.clock.sleep(for: .milliseconds(5)) }
    for peer in deliveries.peers { endDeliveries(to: peer, reason: "ending") }
  }

  private func answer(_ ended: [MessageDeliveries.Answer]) {
    guard !ended.isEmpty else { return }
    for answer in ended { answers.answer(answer.request, with: answer.report) }
    runtime.changed()
  }

  // MARK: - Receiving

  func received(_ bytes: ArraySlice<UInt8>, from member: MemberID, isReliable: Bool) {
    let mode: SendMode = isReliable ? .reliable : .unreliable
    let change = SharedBoard.Change.message(Array(bytes), from: members.described(member), mode: mode)
    guard runtime.sink.contents.contains(.data) else { return runtime.report(change) }
    runtime.report(change, .init(member: member, name: members.name(of: PeerID(member))))
  }
}
