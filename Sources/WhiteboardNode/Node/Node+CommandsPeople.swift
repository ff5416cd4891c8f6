import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The verbs about people and what goes to them past the board.
extension Node {
  /// Accepts a file, a peer that asks to join, or the words on both screens (ADM-8).
  ///
  /// If `isAlways`, the peer is admitted without asking from now on.
  func accept(_ target: String, isAlways: Bool) async throws(CommandError) {
    if let file = fileOffer(target) {
      return try transfers.answerOffer(file, isAccepted: true, isAlways: isAlways)
    }
    try transfers.checkNotEnded(target)
    try await answer(try pendingInvitation(target), with: .accept, isAlways: isAlways)
  }

  /// Declines a file, a peer that asks to join, or the words on both screens.
  func decline(_ target: String, reason: String) async throws(CommandError) {
    if let file = fileOffer(target) {
      return try transfers.answerOffer(file, isAccepted: false)
    }
    try transfers.checkNotEnded(target)
    try await answer(try pendingInvitation(target), with: .decline(reason: reason))
  }

  /// Which question a word of `accept` or `decline` means.
  func invitation(_ word: String) throws(CommandError) -> String {
    var book = ReferenceResolver<String>()
    for (id, invitation) in invitations {
      book.add(id: id, names: [invitation.name, invitation.peer.text], value: id)
    }
    if word == "last", invitations.count == 1, let only = invitations.keys.first {
      return only
    }
    do throws(CommandError) {
      return try book.find(word, what: "invitation", missing: .noSuchInvitation)
    } catch {
      // The start of a peer's id serves as well.
      let starts = invitations.filter {
        word.utf8.count >= 4 && $0.value.peer.text.hasPrefix(word.lowercased())
      }
      guard let only = starts.keys.first, starts.count == 1 else { throw error }
      return only
    }
  }

  /// Returns the offered file that a word of `accept` or `decline` means; nil if it means a request to join.
  func fileOffer(_ word: String) -> TransferID? {
    (try? invitation(word)) == nil ? transfers.offer(word) : nil
  }

  /// Changes the local user's name or icon, and reports both.
  func changeProfile(
    _ name: String?,
    _ icon: IconChange?,
    _ request: CommandRequest
  ) async throws(CommandError) {
    if let settings = configuration.personalSettings {
      do throws(DocumentError) {
        try await settings.keep(name: name, icon: icon)
      } catch {
        throw CommandError(error)
      }
    }
    if let name {
      members.ownName = name
      persistence.recordName(name, of: configuration.identity.peerID.text)
    }
    if let icon { members.ownIcon = icon.icon }
    do throws(BoardError) {
      try replica?.setProfile(name: members.ownName, icon: members.ownIcon?.emoji ?? "", now: now)
    } catch {
      throw CommandError(error) { members.label(of: $0) }
    }
    performActions()
    emit(
      .profile(
        .init(
          peer: replica?.board.member.description ?? "",
          name: members.ownName,
          icon: members.ownIcon?.emoji,
          request: request.request
        )
      )
    )
  }

  /// Returns the present or former member that a word of a command names.
  ///
  /// - Parameters:
  ///   - word: The start of an id, or a name.
  ///   - others: Members that the word may name though they wrote nothing on this board.
  /// - Returns: The member.
  /// - Throws: `noSuchPeer` if no member or more than one matches.
  func author(_ word: String, or others: Set<MemberID> = []) throws(CommandError) -> MemberID {
    guard let board = replica?.board else { throw CommandError(.ending, "the board is closed") }
    var book = ReferenceResolver<MemberID>()
    // Members that wrote nothing count too: the name of one of two must not mean the other.
    let present = members.ids.compactMap { MemberID($0.bytes) }
    for member in Set(board.authors.values).union(others).union(present) {
      let present = members.name(of: member)
      let name =
        member == board.member ? members.ownName : present ?? persistence.names[member.description]
      book.add(id: member.description, names: name.map { [$0] } ?? [], value: member)
    }
    return try book.find(word, what: "author", missing: .noSuchPeer)
  }

  /// Permanently removes all objects that an author created, except settings.
  ///
  /// Other commands and changes run in between.
  func purge(author word: String) async throws(CommandError) -> CommandOutcome {
    let author = try author(word)
    var count = 0
    while true {
      let removed = try openEditor().edit { (board) throws(BoardError) in
        try board.purge(madeBy: author, atMost: 1000)
      }
      count += removed
      guard removed == 1000 else { return CommandOutcome(count: count) }
      await runtime.room()
      await persistence.room()
      await Task.yield()
    }
  }

  /// Whom words mean; everybody, where there are none.
  func recipients(_ names: [String]) throws(CommandError) -> [PeerID] {
    guard !members.isEmpty else {
      throw CommandError(
        .notConnected,
        "no other member is connected; `wait peers=1` waits for one"
      )
    }
    guard !names.isEmpty else { return members.ids }
    var peers: [PeerID] = []
    for name in names {
      let peer = try members.find(name)
      if !peers.contains(peer) {
        peers.append(peer)
      }
    }
    return peers
  }

  /// Sends an application message as a datagram, without confirmation.
  func sendDatagram(_ bytes: [UInt8], to names: [String]) throws(CommandError) {
    let peers = try recipients(names)
    guard bytes.count <= CommandLimits.maximumDatagramLength else {
      throw CommandError(
        .tooBig,
        "a message without --unreliable may be as long; with it, at most "
          + "\(CommandLimits.maximumDatagramLength) bytes fit"
      )
    }
    replica?.sendData(
      bytes,
      to: peers.compactMap { MemberID($0.bytes) },
      isReliable: false,
      now: now
    )
    performActions()
  }
}
