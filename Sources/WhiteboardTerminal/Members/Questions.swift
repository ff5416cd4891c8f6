import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardRendering

struct Questions: Sendable {
  private(set) var invitations: [BoardEvent.Invitation] = []
  /// The times at which the invitations expire, on the client's clock.
  private var ends: [String: Duration] = [:]
  /// The requests that the user has accepted, until their senders have compared the words.
  private var accepted: [BoardEvent.Invitation] = []
  /// The ids of the accepted requests whose senders still compare the words.
  private var compared: Set<String> = []
  private(set) var fileOffers: [BoardEvent.ResourceOffered] = []
  /// The transfers that were offered to the user and have not ended.
  private var offeredTransfers: Set<String> = []

  var isEmpty: Bool { invitations.isEmpty && fileOffers.isEmpty }

  /// Whether a part of the screen shows the time that is left to answer or to compare the words.
  var isTicking: Bool { !compared.isEmpty || invitations.first.map { ends[$0.id] != nil } ?? false }

  mutating func add(_ invitation: BoardEvent.Invitation, now: Duration) {
    invitations.append(invitation)
    ends[invitation.id] = invitation.seconds.map { now + .seconds($0) }
  }

  mutating func add(_ offer: BoardEvent.ResourceOffered) {
    fileOffers.append(offer)
    offeredTransfers.insert(offer.transfer)
  }

  mutating func removeInvitation(_ id: String?) {
    invitations.removeAll { $0.id == id }
    removeAccepted { $0.id == id }
  }

  /// Removes the accepted request of a peer, which has joined.
  mutating func joined(_ peer: String) { removeAccepted { $0.peer == peer } }

  private mutating func removeAccepted(_ matches: (BoardEvent.Invitation) -> Bool) {
    accepted.removeAll(where: matches)
    compared.formIntersection(accepted.map(\.id))
  }

  /// Records that the sender of an accepted request still compares the words.
  mutating func compares(_ id: String?) { if let id, accepted.contains(where: { $0.id == id }) { compared.insert(id) } }

  /// The peer that still compares the words, and the time that is left; nil if there is none.
  func comparison(at now: Duration) -> String? {
    guard let invitation = accepted.first(where: { compared.contains($0.id) }) else { return nil }
    let name = EventText.shortName(invitation.name, EventText.person(invitation.name, invitation.peer))
    let left = ends[invitation.id].map { " (\(EventText.timeLeft($0 - now)) left)" } ?? ""
    return "\(name) compares the words\(left)"
  }

  /// Removes the offer of a transfer that ended; returns whether the transfer was offered to the user.
  mutating func finish(_ transfer: String) -> Bool {
    fileOffers.removeAll { $0.transfer == transfer }
    return offeredTransfers.remove(transfer) != nil
  }

  mutating func removeAll() {
    invitations = []
    (accepted, compared, ends) = ([], [], [:])
    fileOffers = []
  }

  /// Answers the first question with `y`, `A` (always) or `n`; returns the command with the answer; nil if the key is
  /// not an answer, or if there is no question.
  mutating func answer(_ key: InputEvent.Key) -> Command? {
    guard case .character(let letter) = key else { return nil }
    guard let invitation = invitations.first else {
      guard let offer = fileOffers.first, letter == "y" || letter == "n" else { return nil }
      fileOffers.removeFirst()
      return letter == "y" ? .accept(target: offer.transfer) : .decline(target: offer.transfer, reason: nil)
    }
    let answer: Command
    switch letter {
    case "y": answer = .accept(target: invitation.id)
    // Only the upper-case letter answers, because `a` is the key of the arrow tool.
    case "A" where invitation.direction == .incoming: answer = .accept(target: invitation.id, isAlways: true)
    case "n": answer = .decline(target: invitation.id, reason: nil)
    default: return nil
    }
    invitations.removeFirst()
    if letter != "n", invitation.direction == .incoming { accepted.append(invitation) }
    return answer
  }

  func draw(on screen: inout Screen, _ layout: ScreenLayout, now: Duration) {
    if let invitation = invitations.first {
      Dialog(lines(invitation, now: now)).draw(on: &screen, layout)
    } else if let offer = fileOffers.first {
      Dialog([EventText.offerLine(offer), "", "y accept   n decline"]).draw(on: &screen, layout)
    }
  }

  private func lines(_ invitation: BoardEvent.Invitation, now: Duration) -> [String] {
    let isIncoming = invitation.direction == .incoming
    let name = EventText.person(invitation.name, invitation.peer)
    var lines = [isIncoming ? "\(name) asks to join." : "Joining \(name)."]
    if isIncoming, invitation.known == true {
      lines += ["You already know this peer's key."]
      lines += invitation.words.map { ["To compare words anyway:", "", "  \($0)"] } ?? []
      lines += [""]
    } else if let words = invitation.words {
      lines += ["Both screens must show these words:", "", "  \(words)", ""]
    }
    if let warning = invitation.warning { lines.append(UntrustedText(warning).escaped(limit: 200)) }
    let left = ends[invitation.id].map { EventText.timeLeft($0 - now) }
    lines.append(
      isIncoming ? "y yes   A always admit \(EventText.shortName(invitation.name, name))   n no" : "y yes   n no"
    )
    if let left { lines.append("\(left) left to answer") }
    return lines
  }
}
