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

  /// Permanently removes all objects that an author created, except settings.
  ///
  /// Other commands and changes run in between.
  func purge(author word: String) async throws(CommandError) -> CommandOutcome {
    let author = try servedBoard().authors.find(word)
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
    guard bytes.count <= CommandParser.maximumDatagramLength else {
      throw CommandError(
        .tooBig,
        "a message without --unreliable may be as long; with it, at most "
          + "\(CommandParser.maximumDatagramLength) bytes fit"
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
