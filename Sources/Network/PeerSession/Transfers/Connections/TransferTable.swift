import PeerCore
import PeerDiscovery
import PeerWire

/// The running, waiting and interrupted resource transfers with one peer. At most ``Limits/resources`` transfers run in
/// each direction. Requested transfers are counted separately (RES-6).
struct TransferTable {
  struct End {
    var info: ResourceInfo
    var result: Result<ReceivedResource, SessionError>
  }

  private struct Accepted {
    var info: ResourceInfo
    var isReported = false
  }

  private var running: [TransferID: ResourceSender] = [:]
  private var waiting: [ResourceSender] = []
  private var receiving: [TransferID: ResourceReceiver] = [:]
  private var accepted: [TransferID: Accepted] = [:]
  /// The accepted transfers whose link broke, the oldest first.
  private var interrupted: [TransferID] = []

  var isIdle: Bool { running.isEmpty && waiting.isEmpty && receiving.isEmpty && accepted.isEmpty }

  // MARK: Outgoing

  var runningSenders: [ResourceSender] { Array(running.values) }

  func runningSender(_ id: TransferID) -> ResourceSender? { running[id] }

  /// Returns whether the sender may run now; otherwise, it must wait.
  mutating func add(_ sender: ResourceSender) -> Bool {
    guard hasRoom(forRequested: sender.isRequested) else {
      waiting.append(sender)
      return false
    }
    running[sender.id] = sender
    return true
  }

  mutating func senderEnded(_ sender: ResourceSender) -> ResourceSender? {
    running[sender.id] = nil
    guard let index = waiting.firstIndex(where: { hasRoom(forRequested: $0.isRequested) }) else { return nil }
    let next = waiting.remove(at: index)
    running[next.id] = next
    return next
  }

  mutating func removeWaiting(_ sender: ResourceSender) -> Bool {
    guard let index = waiting.firstIndex(where: { $0 === sender }) else { return false }
    waiting.remove(at: index)
    return true
  }

  mutating func removeWaiting() -> [ResourceSender] {
    defer { waiting = [] }
    return waiting
  }

  private func hasRoom(forRequested isRequested: Bool) -> Bool {
    running.values.count { $0.isRequested == isRequested } < Limits.resources
  }

  // MARK: Incoming

  var receivers: [ResourceReceiver] { Array(receiving.values) }

  func receiver(of id: TransferID) -> ResourceReceiver? { receiving[id] }

  mutating func add(_ receiver: ResourceReceiver) -> Bool {
    let id = receiver.offer.id
    let others = receiving.values.count { $0.isRequested == receiver.isRequested }
    guard others < Limits.resources, receiving[id] == nil else { return false }
    receiving[id] = receiver
    interrupted.removeAll { $0 == id }
    return true
  }

  func hasAccepted(_ id: TransferID) -> Bool { accepted[id] != nil }

  /// Records that an offer was accepted, so that the end of the transfer will be reported.
  mutating func accepted(_ info: ResourceInfo) {
    if accepted[info.id] == nil { accepted[info.id] = Accepted(info: info) }
  }

  /// Records that the bytes of a transfer have begun to arrive. Returns true only the first time.
  mutating func started(_ info: ResourceInfo) -> Bool {
    guard accepted[info.id]?.isReported != true else { return false }
    accepted[info.id] = Accepted(info: info, isReported: true)
    return true
  }

  /// Removes a receiver, and returns the end of a transfer to report, or `nil` if there is none. If `result` is given,
  /// the receiver's transfer has ended. Otherwise, the transfer is interrupted. If too many transfers are interrupted,
  /// the oldest interrupted transfer fails. Of the offers that were not accepted, only requested resources for which the
  /// disk has no space are reported.
  mutating func receiverEnded(
    _ receiver: ResourceReceiver,
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>?
  ) -> End? {
    if receiving[info.id] === receiver { receiving[info.id] = nil }
    guard let begun = accepted[info.id]?.info else {
      guard receiver.isRequested, case .failure(let error)? = result, error.code == .diskFull else { return nil }
      return End(info: info, result: .failure(error))
    }
    if let result {
      accepted[info.id] = nil
      return End(info: begun, result: result)
    }
    interrupted.append(info.id)
    // A peer that starts transfers without finishing them must not exhaust the memory.
    guard interrupted.count > Limits.resources else { return nil }
    let oldest = interrupted.removeFirst()
    return accepted.removeValue(forKey: oldest).map { End(info: $0.info, result: .failure(.bulkLinkLost)) }
  }

  mutating func endIncoming() -> [ResourceInfo] {
    defer {
      accepted = [:]
      interrupted = []
    }
    return accepted.values.map(\.info)
  }

  // MARK: Cancellation

  /// Finds a transfer to cancel, and removes it if it was interrupted; returns the transfer's sender or receiver, or
  /// its properties if it was interrupted. All values are `nil` if the id is unknown.
  mutating func cancel(_ id: TransferID) -> (
    sender: ResourceSender?, receiver: ResourceReceiver?, interrupted: ResourceInfo?
  ) {
    let sender = running[id] ?? waiting.first { $0.id == id }
    let receiver = receiving[id]
    guard receiver == nil, interrupted.contains(id) else { return (sender, receiver, nil) }
    interrupted.removeAll { $0 == id }
    return (sender, nil, accepted.removeValue(forKey: id)?.info)
  }
}
