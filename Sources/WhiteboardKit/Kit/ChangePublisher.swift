import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardSync

/// Confined to the actor of its board.
final class ChangePublisher {
  let readers = ChangeReaders()
  private let members: Members
  private let localPeer: PeerID

  init(_ members: Members, localPeer: PeerID) {
    self.members = members
    self.localPeer = localPeer
  }

  /// The change is only created if there are readers.
  func publish(_ change: @autoclosure () -> SharedBoard.Change) {
    guard !readers.isEmpty else { return }
    readers.publish(change())
  }

  func publish(_ action: ReplicaAction) {
    guard !readers.isEmpty, let change = change(of: action) else { return }
    readers.publish(change)
  }

  private func change(of action: ReplicaAction) -> SharedBoard.Change? {
    switch action {
    case .objectAdded(let snapshot, let member): .added(snapshot, by: author(of: member))
    case .objectChanged(let snapshot, let member): .changed(snapshot, by: author(of: member))
    case .objectRemoved(let id, let member): .removed(id, by: author(of: member))
    case .selected(let id, let member): .selected(id, by: member.map { author(of: $0) })
    case .chat(let line, let member): .chat(line, by: author(of: member))
    case .presence(let member, let presence): .presence(presence, of: self.member(member))
    case .data(let bytes, let member, let isReliable):
      .message(Array(bytes), from: self.member(member), mode: isReliable ? .reliable : .unreliable)
    default: nil
    }
  }

  func member(_ peer: PeerID) -> SharedBoard.Member { SharedBoard.Member(id: peer, name: members.chosenName(of: peer)) }

  private func member(_ member: MemberID) -> SharedBoard.Member { self.member(PeerID(member)) }

  /// Returns the public description of the author of a change; nil means the local member.
  private func author(of member: MemberID?) -> SharedBoard.Change.Author {
    guard let member, PeerID(member) != localPeer else { return .me }
    return .other(self.member(member))
  }
}
