import PeerDiscovery
import PeerWire

/// The resource transfers with one peer: those that run, wait or were interrupted.
///
/// At most ``Limits/resources`` transfers run in each direction. Requested transfers are counted
/// separately (RES-6).
struct TransferTable {
  /// The end of an incoming transfer, to be reported to the application.
  struct End {
    var info: ResourceInfo
    var result: Result<ReceivedResource, SessionError>
  }

  /// An incoming transfer that was accepted and whose end was not reported yet.
  private struct Accepted {
    var info: ResourceInfo
    /// Whether the start of the transfer was reported.
    var isReported = false
  }

  private var running: [TransferID: ResourceSender] = [:]
  private var waiting: [ResourceSender] = []
  private var receiving: [TransferID: ResourceReceiver] = [:]
  private var accepted: [TransferID: Accepted] = [:]
  /// The accepted transfers whose link broke, the oldest first.
  private var interrupted: [TransferID] = []

  // MARK: Outgoing

  /// The senders that run.
  var runningSenders: [ResourceSender] { Array(running.values) }

  /// Returns the sender of a transfer if it runs.
  func runningSender(_ id: TransferID) -> ResourceSender? { running[id] }

  /// Adds a sender.
  ///
  /// - Returns: Whether the sender runs now; otherwise it waits.
  mutating func add(_ sender: ResourceSender) -> Bool {
    guard hasRoom(forRequested: sender.isRequested) else {
      waiting.append(sender)
      return false
    }
    running[sender.id] = sender
    return true
  }

  /// Removes a sender that ended.
  ///
  /// - Returns: The sender that runs in its place, if one waits.
  mutating func senderEnded(_ sender: ResourceSender) -> ResourceSender? {
    running[sender.id] = nil
    guard let index = waiting.firstIndex(where: { hasRoom(forRequested: $0.isRequested) }) else {
      return nil
    }
    let next = waiting.remove(at: index)
    running[next.id] = next
    return next
  }

  /// Removes a sender from the queue.
  ///
  /// - Returns: Whether the sender was waiting.
  mutating func removeWaiting(_ sender: ResourceSender) -> Bool {
    guard let index = waiting.firstIndex(where: { $0 === sender }) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Removes and returns all senders that wait.
  mutating func removeWaiting() -> [ResourceSender] {
    defer { waiting = [] }
    return waiting
  }

  private func hasRoom(forRequested isRequested: Bool) -> Bool {
    running.values.count { $0.isRequested == isRequested } < Limits.resources
  }

  // MARK: Incoming

  /// The receivers that run.
  var receivers: [ResourceReceiver] { Array(receiving.values) }

  /// Returns the receiver of a transfer if it runs.
  func receiver(of id: TransferID) -> ResourceReceiver? { receiving[id] }

  /// Adds the receiver of an offer.
  ///
  /// - Returns: Whether there was room for it.
  mutating func add(_ receiver: ResourceReceiver) -> Bool {
    let id = receiver.offer.id
    let others = receiving.values.count { $0.isRequested == receiver.isRequested }
    guard others < Limits.resources, receiving[id] == nil else { return false }
    receiving[id] = receiver
    interrupted.removeAll { $0 == id }
    return true
  }

  /// Returns whether an incoming transfer was accepted and its end was not reported.
  func hasAccepted(_ id: TransferID) -> Bool { accepted[id] != nil }

  /// Records that an offer was accepted: from now on, the end of the transfer is reported.
  mutating func accepted(_ info: ResourceInfo) {
    if accepted[info.id] == nil { accepted[info.id] = Accepted(info: info) }
  }

  /// Records that the bytes of a transfer arrive.
  ///
  /// - Returns: Whether this is the first time, so that the start must be reported.
  mutating func started(_ info: ResourceInfo) -> Bool {
    guard accepted[info.id]?.isReported != true else { return false }
    accepted[info.id] = Accepted(info: info, isReported: true)
    return true
  }

  /// Removes a receiver that ended.
  ///
  /// - Parameters:
  ///   - receiver: The receiver.
  ///   - info: Its transfer.
  ///   - result: The result; nil if the sender may continue over another link.
  /// - Returns: The end to report. It is that of an older transfer if too many were interrupted.
  mutating func receiverEnded(
    _ receiver: ResourceReceiver,
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>?
  ) -> End? {
    if receiving[info.id] === receiver { receiving[info.id] = nil }
    guard let begun = accepted[info.id]?.info else { return nil }
    if let result {
      accepted[info.id] = nil
      return End(info: begun, result: result)
    }
    interrupted.append(info.id)
    // A peer that starts transfers and never ends them must not fill the memory.
    guard interrupted.count > Limits.resources else { return nil }
    let oldest = interrupted.removeFirst()
    return accepted.removeValue(forKey: oldest)
      .map { End(info: $0.info, result: .failure(.bulkLinkLost)) }
  }

  /// Removes and returns the incoming transfers whose end was not reported.
  mutating func endIncoming() -> [ResourceInfo] {
    defer {
      accepted = [:]
      interrupted = []
    }
    return accepted.values.map(\.info)
  }

  // MARK: Cancellation

  /// Finds the transfer that the application cancels, and removes it if it was interrupted.
  ///
  /// - Returns: Its sender or receiver, or its description if it was interrupted; all nil if the id
  ///   is unknown.
  mutating func cancel(
    _ id: TransferID
  ) -> (sender: ResourceSender?, receiver: ResourceReceiver?, interrupted: ResourceInfo?) {
    let sender = running[id] ?? waiting.first { $0.id == id }
    let receiver = receiving[id]
    guard receiver == nil, interrupted.contains(id) else { return (sender, receiver, nil) }
    interrupted.removeAll { $0 == id }
    return (sender, nil, accepted.removeValue(forKey: id)?.info)
  }
}
