import Logging
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// An open board with the components that work on it. Performs the actions of the replica. Confined to the actor of its
/// board.
final class ActiveBoard {
  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let persistence: Persistence
  let photos: PhotoFiles
  let outbox: BoardOutbox
  let transfers: Transfers
  private let answers: CommandAnswers
  private let transport: PeerTransport

  let boardSession: BoardSession
  let replica: Replica
  let authors: Authors
  let reports: BoardReports
  let catchUp: CatchUp
  private(set) lazy var profiles = Profiles(
    runtime,
    configuration,
    replica,
    of: self,
    members: members,
    persistence: persistence
  )
  private(set) lazy var editor = BoardEditor(runtime, replica, of: self, members: members, photos: photos)
  private(set) lazy var roles = Roles(runtime, replica, of: self, members: members)
  private(set) lazy var admission = BoardAdmission(
    runtime,
    configuration,
    boardSession,
    replica,
    members: members,
    roles: roles,
    persistence: persistence,
    browsers: browsers
  )
  private(set) lazy var browsers = BrowserAccess(
    runtime,
    configuration,
    boardSession,
    replica,
    roles: roles,
    persistence: persistence,
    transport
  )
  private(set) lazy var queries = Queries(
    runtime,
    session,
    replica,
    members: members,
    persistence: persistence,
    reports: reports,
    editor: editor,
    roles: roles
  )
  private(set) lazy var messages = ApplicationMessages(
    runtime,
    session,
    replica,
    of: self,
    members: members,
    outbox: outbox,
    answers: answers
  )
  private(set) lazy var convergence = Convergence(
    runtime,
    configuration,
    session,
    replica,
    of: self,
    members: members,
    outbox: outbox,
    messages: messages
  )
  private(set) lazy var versions = BoardVersions(runtime, persistence: persistence, editor: editor)
  private(set) lazy var files = ImportExport(
    runtime,
    configuration,
    boardSession,
    authors: authors,
    photos: photos,
    editor: editor
  )

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ board: BoardSession,
    _ replica: Replica,
    _ transport: PeerTransport,
    members: Members,
    persistence: Persistence,
    photos: PhotoFiles,
    outbox: BoardOutbox,
    transfers: Transfers,
    answers: CommandAnswers,
    hiddenAuthors: HiddenAuthors
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.persistence = persistence
    self.photos = photos
    self.outbox = outbox
    self.transfers = transfers
    self.answers = answers
    boardSession = board
    self.replica = replica
    self.transport = transport
    authors = Authors(board: replica.board, members: members, persistence: persistence)
    reports = BoardReports(
      runtime,
      replica,
      members: members,
      photos: photos,
      hiddenAuthors: hiddenAuthors
    )
    catchUp = CatchUp(runtime, configuration, board.session, replica, members: members)
  }

  var session: Session { boardSession.session }

  private var isHostConfirmed = false
  private var storageNotice = StorageNotice()
  /// The number of nested calls of ``perform(_:)``. Calls nest if an action causes another input to the replica.
  private var depth = 0

  /// Confirms the owner of an owned board as the host of the session, as soon as the owner is known (MEM-15).
  func confirmHost() {
    guard replica.isOwned, !isHostConfirmed, let owner = replica.owner else { return }
    isHostConfirmed = true
    session.confirm(owner: PeerID(owner))
  }

  /// Stores the title of the board, by which lists and commands find the board.
  nonisolated(nonsending) func storeTitle() async {
    guard let document = persistence.document, configuration.recordingFile == nil else { return }
    do throws(DocumentError) {
      try await boardSession.storeTitle(reports.settings.title ?? "", in: document)
    } catch { configuration.logger.warning("The title was not stored.", metadata: ["reason": "\(error.message)"]) }
  }

  /// Returns the number of objects on this board that were hidden or shown.
  nonisolated(nonsending) func setAuthor(_ word: String, isHidden: Bool) async throws(CommandError) -> CommandOutcome {
    let hidden = reports.hiddenAuthors
    let author = try authors.find(word, or: hidden.members)
    guard !isHidden || author != replica.board.member else {
      throw CommandError(.badArgument, "you cannot hide yourself")
    }
    guard hidden.contains(author) != isHidden else {
      return CommandOutcome(count: isHidden ? reports.objectsOfAuthor(author).count : 0)
    }
    try await hidden.set(author, isHidden: isHidden)
    if isHidden { reportFullSettings() }
    return CommandOutcome(count: reports.setShown(!isHidden, author: author))
  }
}

extension ActiveBoard {
  /// Reports if the personal settings, which the programs of this user share, nearly fill their limits.
  func reportFullSettings() {
    let used = configuration.personalSettings?.usedPart ?? 0
    if let note = SharedBoard.News.Remark.nearlyFull(
      hiddenAuthors: reports.hiddenAuthors.members.count,
      usedPart: used
    ) {
      runtime.emit(.note(note))
    }
  }

  /// Applies a personal setting that another program stored, and reports it unless it is unknown or already in effect.
  func settingChanged(_ change: PersonalSettings.Change) {
    var isApplied = false
    switch change.key {
    case "name":
      let name = (try? CommandLimits.checkedDisplayName(change.new)) ?? nil
      guard name != members.ownName else { return }
      if configuration.usesStoredName, let name {
        isApplied = true
        profiles.use(name)
      }
    case "icon":
      let icon = change.new.flatMap { ProfileIcon(rawValue: $0) }
      guard icon != members.ownIcon else { return }
      isApplied = true
      members.ownIcon = icon
    case "hidden":
      let toggled = reports.hiddenAuthors.replace(with: PersonalSettings.authors(in: change.new))
      guard !toggled.isEmpty else { return }
      isApplied = true
      for author in toggled { reports.setShown(!reports.hiddenAuthors.contains(author), author: author) }
    // The file may also contain many settings of other programs.
    default: return
    }
    // Publishing cannot fail, because the name and the icon are within their limits.
    if isApplied, change.key != "hidden" { try? profiles.publish() }
    runtime.report(
      .personalSetting(.init(key: change.key, old: change.old, new: change.new, isApplied: isApplied)),
      .init(of: replica.board.member, UntrustedText(members.ownName))
    )
  }

  /// Call this function after each input to the replica, even if there are no actions: the function also schedules the
  /// next timed work.
  func perform(_ actions: [ReplicaAction]) {
    depth += 1
    for action in actions { fulfill(action) }
    depth -= 1
    if depth == 0 { reports.didReport() }
    confirmHost()
    if reports.reportSettings() { runtime.spawn { sharedBoard in await sharedBoard.board?.storeTitle() } }
    if let note = storageNotice.check(replica.board) { runtime.emit(.note(note)) }
    if let deadline = replica.nextDeadline { runtime.wake(by: runtime.instant(deadline)) }
    runtime.changed()
  }

  private func fulfill(_ action: ReplicaAction) {
    switch action {
    // The board
    case .objectAdded(let snapshot, let member): reports.objectAdded(snapshot, by: member)
    case .objectChanged(let snapshot, let member): reports.objectChanged(snapshot, by: member)
    case .objectRemoved(let id, let member): reports.objectRemoved(id, by: member)
    case .selected(let id, let member): reports.selected(id, by: member)
    case .selectionLost(let id, let winner): reports.selectionLost(id, to: winner)
    case .chat(let line, let member): reports.chatAdded(line, by: member)
    // Pointers and unfinished strokes have no events.
    case .preview(let preview): reports.strokeContinued(preview)
    case .presence(let member, let presence): reports.presenceChanged(presence, of: member)
    case .record(let change): persistence.record(change)
    case .sign, .verify: preconditionFailure("the author has a local key, and the replica has a verifier")
    // Messages, resources and application data
    case .send(let bytes, let recipients): outbox.enqueue(bytes, to: peers(recipients))
    case .sendDatagram(let bytes, let recipients):
      let reached = peers(recipients).filter { members.isReached($0) }
      // A member may leave in the meantime; any datagram may be lost.
      if !reached.isEmpty { try? session.sendDatagram(bytes, to: reached) }
    case .sendAsset(let id, let name, let member): transfers.sendAsset(id, name, to: member)
    case .sendAnswer(let answer, let member): transfers.sendAnswer(answer, to: member)
    case .wantAsset(let reference, let member):
      configuration.logger.debug(
        "Photo requested.",
        metadata: ["asset": "\(reference.id)", "peer": "\(member.description.prefix(8))"]
      )
    case .data(let bytes, let member, let isReliable): messages.received(bytes, from: member, isReliable: isReliable)
    // Members
    case .profile(let member, let name, let icon): profiles.changed(member, name: name, icon: icon)
    case .role(let role): roles.localRoleChanged(to: role)
    case .memberRole(let member, let role): roles.roleChanged(of: member, to: role)
    case .caughtUp(let member):
      catchUp.caughtUp(with: member)
      configuration.logger.debug("Caught up with a member.", metadata: ["peer": "\(member.description.prefix(8))"])
    // Warnings
    case .clock(let report):
      let name = report.member == replica.board.member ? nil : members.label(of: report.member)
      let remark = SharedBoard.News.Remark(report, of: name)
      runtime.emit(report.finding == .isRight ? .note(remark) : .warning(remark))
    case .diverged(let member, _): warn(.diverged(from: members.label(of: member)))
    case .full(let member): warn(.boardFull(for: members.label(of: member)))
    case .deletedUnseen(let ids, let author): warn(.deletedUnseen(ids, by: author.map { members.label(of: $0) }))
    case .photosLeftOut(let author): warn(.photosLeftOut(of: members.label(of: author)))
    case .unrecorded(let member): warn(.unrecordedAuthors(in: members.label(of: member)))
    case .protocolViolation(let member, let error): reject(member, because: error)
    }
  }

  private func warn(_ remark: SharedBoard.News.Remark) { runtime.emit(.warning(remark)) }

  private func peers(_ members: [MemberID]) -> [PeerID] { members.map { PeerID($0) } }

  private func reject(_ member: MemberID, because error: ReplicaError) {
    let peer = PeerID(member)
    warn(.violation(by: members.label(of: member), error))
    runtime.spawn { [session] _ in
      // The peer may have left in the meantime.
      try? await session.reject(peer, breaking: error.message)
    }
  }
}

/// Changes the local display name and icon, and reports the names and icons of other members. Confined to the actor of
/// its board.
final class Profiles {
  private let runtime: BoardRuntime
  private let settings: PersonalSettings?
  /// Whether the local member shows, records or broadcasts previews of strokes (SYN-49).
  private var showsPreviews: Bool {
    runtime.sink.contents.contains(.previews) || recordsTraffic || runtime.call { $0.broadcasts.showsBoard }
  }
  private let recordsTraffic: Bool
  private let replica: Replica
  /// The reference is weak because the open board owns this object.
  private weak var active: ActiveBoard?
  private let members: Members
  private let persistence: Persistence

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ replica: Replica,
    of active: ActiveBoard,
    members: Members,
    persistence: Persistence
  ) {
    self.runtime = runtime
    settings = configuration.personalSettings
    recordsTraffic = configuration.recordedTraffic != nil
    self.replica = replica
    self.active = active
    self.members = members
    self.persistence = persistence
  }

  func publish() throws(BoardError) {
    let icon = members.ownIcon?.emoji ?? ""
    active?.perform(
      try replica.setProfile(name: members.ownName, icon: icon, showsPreviews: showsPreviews, now: runtime.now)
    )
  }

  nonisolated(nonsending) func changeOwn(_ name: String?, _ icon: IconChange?, request: RequestMark?)
    async throws(CommandError)
  {
    // Use the values before they are stored: what another program stores afterwards takes effect later.
    let before = (name: members.ownName, icon: members.ownIcon)
    if let name { use(name) }
    if let icon { members.ownIcon = icon.icon }
    if let settings, name != nil || icon != nil {
      do throws(DocumentError) { try await settings.store(name: name, icon: icon) } catch {
        if name != nil { use(before.name) }
        if icon != nil { members.ownIcon = before.icon }
        throw CommandError(error)
      }
      active?.reportFullSettings()
    }
    do throws(BoardError) { try publish() } catch { throw CommandError(error) { members.label(of: $0) } }
    runtime.emit(
      .profile(
        .init(
          peer: replica.board.member.description,
          name: UntrustedText(members.ownName),
          icon: members.ownIcon.map { UntrustedText($0.emoji) }
        )
      ),
      answering: request
    )
  }

  /// Changes the local display name; the caller publishes the profile.
  func use(_ name: String) {
    members.ownName = name
    persistence.recordName(UntrustedText(name), of: replica.board.member.description)
    runtime.call { $0.discovery.announcementChanged() }
  }

  /// Commands still find the member by the name in its handshake. Otherwise, a name change could bypass the warning
  /// about changed keys.
  func changed(_ member: MemberID, name: String, icon: String) {
    let peer = PeerID(member)
    let old = members.looks[peer] ?? Members.Look(name: members.name(of: peer), icon: nil)
    let new = Members.Look(name: UntrustedText(name), icon: icon.isEmpty ? nil : UntrustedText(icon))
    members.looks[peer] = new
    persistence.recordName(new.name, of: peer.text)
    if old != new { runtime.emit(.profile(.init(peer: peer.text, name: new.name, icon: new.icon))) }
  }
}
