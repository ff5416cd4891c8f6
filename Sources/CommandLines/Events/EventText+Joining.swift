import PeerCore
import WhiteboardKit

/// Lines about joining and catching up.
extension EventText {
  static func joiningLine(_ joining: BoardEvent.Joining) -> String? {
    switch joining.step {
    case .searching:
      joining.boardName.map { "looking for \($0.quoted()) on this network" } ?? "looking for a board on this network"
    case .connecting:
      // If the peer is unknown, another line already shows the address.
      joining.peer == nil ? nil : "trying \(address(joining))"
    case .awaitingAnswer: "\(address(joining)) accepted the connection; waiting for an answer"
    case .provingCode: "proving the code"
    case .awaitingAcceptance: "waiting for \(name(joining)) to accept"
    }
  }

  static func caughtUpLine(_ member: BoardEvent.CaughtUp) -> String {
    "up to date with \(shortName(member.name, member.peer)): " + count(member.objects, "object")
  }

  private static func name(_ joining: BoardEvent.Joining) -> String {
    shortName(joining.name ?? UntrustedText(""), joining.peer ?? "the host")
  }

  private static func address(_ joining: BoardEvent.Joining) -> String {
    UntrustedText(joining.address ?? "").escaped(limit: 128)
  }
}
