import PeerCore
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Changes the local display name and icon, and reports the names and icons of the other members.
///
/// Confined to the actor of its board.
final class Profiles {
  private let runtime: BoardRuntime
  private let settings: PersonalSettings?
  private let replica: Replica
  /// The open board.
  ///
  /// The reference is unowned because the open board owns this object.
  private unowned let active: ActiveBoard
  private let members: Members
  private let persistence: Persistence

  /// Creates the profiles of a board.
  ///
  /// - Parameters:
  ///   - runtime: The services of the board.
  ///   - settings: The storage of the local profile; nil if it is not stored.
  ///   - replica: The replica of the board.
  ///   - active: The open board.
  ///   - members: The members.
  ///   - persistence: The board's file, which stores the names.
  init(
    _ runtime: BoardRuntime,
    _ settings: PersonalSettings?,
    _ replica: Replica,
    of active: ActiveBoard,
    members: Members,
    persistence: Persistence
  ) {
    self.runtime = runtime
    self.settings = settings
    self.replica = replica
    self.active = active
    self.members = members
    self.persistence = persistence
  }

  /// Sends the local profile to the members.
  ///
  /// - Throws: ``BoardError`` if the name is too long.
  func publish() throws(BoardError) {
    active.perform(try replica.setProfile(name: members.ownName, icon: members.ownIcon?.emoji ?? "", now: runtime.now))
  }

  /// Changes the local user's display name and icon, and reports the profile.
  nonisolated(nonsending) func changeOwn(_ name: String?, _ icon: IconChange?, request: RequestMark?)
    async throws(CommandError)
  {
    if let settings {
      do throws(DocumentError) { try await settings.store(name: name, icon: icon) } catch { throw CommandError(error) }
    }
    if let name {
      members.ownName = name
      persistence.recordName(UntrustedText(name), of: replica.board.member.description)
    }
    if let icon { members.ownIcon = icon.icon }
    do throws(BoardError) { try publish() } catch { throw CommandError(error) { members.label(of: $0) } }
    runtime.emit(
      .profile(
        .init(
          peer: replica.board.member.description,
          name: UntrustedText(members.ownName),
          icon: members.ownIcon.map { UntrustedText($0.emoji) },
          request: request
        )
      )
    )
  }

  /// Handles a new display name and icon of a member, and reports them if they changed.
  ///
  /// Commands still find the member by the name in its handshake. Otherwise, a later name change could bypass the
  /// warning about changed keys.
  func changed(_ member: MemberID, name: String, icon: String) {
    let peer = PeerID(member)
    let old = members.looks[peer] ?? Members.Look(name: members.name(of: peer), icon: nil)
    let new = Members.Look(name: UntrustedText(name), icon: icon.isEmpty ? nil : UntrustedText(icon))
    members.looks[peer] = new
    persistence.recordName(new.name, of: peer.text)
    if old != new { runtime.emit(.profile(.init(peer: peer.text, name: new.name, icon: new.icon))) }
  }
}
