import PeerCore
import PeerSession
import WhiteboardRendering

/// Files that members offer, and the answers to the offers.
extension Transfers {
  /// The ways in which a file offer ends without being accepted.
  private enum OfferEnd {
    case declined
    case over
  }

  /// The maximum number of accepted files that are remembered until they arrive, so that the user is not asked again
  /// when a transfer resumes.
  private static let acceptedLimit = 256

  /// Decides about a resource that the local peer did not request (SYN-13, SYN-37, RES-8).
  ///
  /// A catch-up answer or a photo is refused. Any other resource is a file for the user. If the configuration requires
  /// it, the function asks the user and waits for the answer, until its task is canceled.
  ///
  /// - Parameter info: The resource.
  /// - Returns: Whether to accept the resource.
  nonisolated(nonsending) func wants(_ info: ResourceInfo) async -> Bool {
    defer { checkIsolation(#isolation) }
    guard case .file = ResourceContent(named: info.name.raw) else { return false }
    if acceptedFiles[info.id] == info.peer { return true }
    if configuration.fileSenders == .trusted, !(await isTrusted(info.peer)) {
      runtime.emit(.note(.init(code: BoardEvent.Remark.fileRefused, message: distrust(of: info))))
      return false
    }
    switch configuration.files {
    case .accept: return true
    case .refuse:
      runtime.emit(.note(.init(code: BoardEvent.Remark.fileRefused, message: refusal(of: info))))
      return false
    case .ask:
      guard await ask(about: info) else { return false }
      if acceptedFiles.count >= Self.acceptedLimit { acceptedFiles = [:] }
      acceptedFiles[info.id] = info.peer
      return true
    }
  }

  private func refusal(of info: ResourceInfo) -> String {
    "\(attempt(of: info)) It was refused. To accept files of members, start this program with --accept-files."
  }

  private func distrust(of info: ResourceInfo) -> String {
    "\(attempt(of: info)) It was refused, because you accept files only from people whom you trust. To trust "
      + "the sender: whiteboard-peer peers trust --always \(info.peer.text)"
  }

  private func attempt(of info: ResourceInfo) -> String {
    let sender = members.label(of: info.peer)
    return "\(sender) wanted to send \(info.name.quoted(limit: 80)) (\(ByteCount.text(info.size)))."
  }

  private nonisolated(nonsending) func isTrusted(_ peer: PeerID) async -> Bool {
    await configuration.peerStore?.isTrusted(peer) ?? false
  }

  private nonisolated(nonsending) func ask(about info: ResourceInfo) async -> Bool {
    defer { checkIsolation(#isolation) }
    lastOffer += 1
    let number = lastOffer
    let sharedBoard = runtime.sharedBoard
    return await withCancellation {
      await withCheckedContinuation { decision in
        guard runtime.ending == nil, !Task.isCancelled else { return decision.resume(returning: false) }
        endOffer(info.id, .over)
        offers[info.id] = FileOffer(info: info, number: number, offeredAt: runtime.clock.now, decision: decision)
        runtime.emit(
          .resourceOffered(
            .init(
              transfer: info.id.text,
              peer: info.peer.text,
              sender: members.name(of: info.peer),
              name: info.name,
              size: UInt64(clamping: info.size),
              deadline: SystemTime.deadlineText(Session.offerTimeout)
            )
          )
        )
        runtime.spawn { sharedBoard in await sharedBoard.commandRunner.runDueCommands() }
      }
    } onCancel: {
      // Ending the offer resumes the canceled call.
      Task { await sharedBoard.offerEnded(info.id, number) }
    }
  }

  /// Ends an offer that timed out or that the sender withdrew.
  func offerEnded(_ id: TransferID, _ number: Int) {
    guard offers[id]?.number == number else { return }
    endOffer(id, .over)
  }

  private func endOffer(_ id: TransferID, _ end: OfferEnd) {
    guard let offer = offers.removeValue(forKey: id) else { return }
    let isLate = runtime.clock.now - offer.offeredAt >= Session.offerTimeout
    let message =
      switch end {
      case .declined: "You declined the file."
      case .over where isLate: "The file was not accepted in time."
      case .over: "The sender no longer offers the file."
      }
    runtime.emit(
      .resourceFinished(
        .init(
          transfer: id.text,
          direction: .incoming,
          peer: offer.info.peer.text,
          name: offer.info.name,
          outcome: .cancelled,
          message: UntrustedText(message)
        )
      )
    )
    offer.decision.resume(returning: false)
  }

  /// Closes all offers, because the board is closing.
  func endFileOffers() { for id in offers.keys.sorted(by: { $0.text < $1.text }) { endOffer(id, .over) } }

  /// Finds the offered file that an argument of `accept` or `decline` names.
  ///
  /// - Parameter word: The id of the transfer or an id prefix, the name of the file, or the name of its sender.
  /// - Returns: The transfer; nil if no transfer or more than one matches.
  func offer(_ word: String) -> TransferID? {
    if word == "last", offers.count == 1 { return offers.keys.first }
    var book = ReferenceResolver<TransferID>()
    for (id, offer) in offers {
      let peer = offer.info.peer
      let names = [offer.info.name, members.name(of: peer), UntrustedText(peer.text)]
      book.add(id: id.text, names: names, value: id)
    }
    return try? book.find(word, what: "file", missing: .noSuchTransfer)
  }

  /// Answers the offer of a file.
  ///
  /// - Parameters:
  ///   - id: The transfer.
  ///   - isAccepted: Whether the user accepts the file.
  ///   - isAlways: Whether the command contains `always`, which is valid for peers but not for files.
  /// - Throws: ``CommandError`` if `isAlways` is true.
  func answerOffer(_ id: TransferID, isAccepted: Bool, isAlways: Bool = false) throws(CommandError) {
    guard !isAlways else {
      throw CommandError(.badArgument, "`always` works only for a peer that asks to join this board")
    }
    guard isAccepted else { return endOffer(id, .declined) }
    offers.removeValue(forKey: id)?.decision.resume(returning: true)
  }

  /// Throws an error if an argument of `accept` or `decline` can only mean a file whose offer has ended.
  ///
  /// - Parameter word: The argument.
  /// - Throws: ``CommandError`` `noSuchTransfer`.
  func checkNotEnded(_ word: String) throws(CommandError) {
    guard TransferID(text: word) != nil else { return }
    throw CommandError(.noSuchTransfer, "the file is no longer offered, so there is nothing left to answer")
  }
}
