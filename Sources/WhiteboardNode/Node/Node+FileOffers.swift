import PeerSession
import WhiteboardRendering

/// Files that members offer: asked, answered, and over.
extension Node {
  /// A file that a member offers, until it is answered.
  struct FileOffer {
    let info: ResourceInfo
    /// Distinguishes this offer from a later one of the same transfer.
    let number: Int
    let offeredAt: ContinuousClock.Instant
    let decision: CheckedContinuation<Bool, Never>
  }

  /// How a file offer ends without being accepted.
  private enum OfferEnd {
    case declined
    case over
  }

  /// Accepted files that have not arrived yet and are remembered, so that a transfer that resumes is not
  /// asked about again.
  private static let acceptedLimit = 256

  /// Decides about a resource that this node did not request (SYN-13, SYN-37, RES-8).
  ///
  /// An answer or a photo is refused then. Any other resource is a file for the user. If the
  /// configuration says so, the call asks and waits for the answer, until its task is cancelled.
  ///
  /// - Parameter info: The resource.
  /// - Returns: Whether to accept it.
  package func wants(_ info: ResourceInfo) async -> Bool {
    guard Self.answer(named: info.name.raw) == nil, asset(named: info.name.raw) == nil else {
      return false
    }
    if acceptedFiles[info.id] == info.peer { return true }
    switch configuration.files {
    case .accept:
      return true
    case .refuse:
      emit(.note(.init(code: NodeEvent.Remark.fileRefused, message: refusal(of: info))))
      return false
    case .ask:
      guard await ask(about: info) else { return false }
      if acceptedFiles.count >= Self.acceptedLimit { acceptedFiles = [:] }
      acceptedFiles[info.id] = info.peer
      return true
    }
  }

  private func refusal(of info: ResourceInfo) -> String {
    let sender = members.label(of: info.peer)
    let file = TerminalText.quoted(info.name.raw, limit: 80)
    return
      "\(sender) wanted to send \(file) (\(ByteCount.text(info.size))). It was refused. To accept "
      + "files of members, start this program with --accept-files."
  }

  private func ask(about info: ResourceInfo) async -> Bool {
    nextOffer += 1
    let number = nextOffer
    return await withTaskCancellationHandler {
      await withCheckedContinuation { decision in
        guard ending == nil, !Task.isCancelled else { return decision.resume(returning: false) }
        endOffer(info.id, .over)
        fileOffers[info.id] = FileOffer(
          info: info,
          number: number,
          offeredAt: clock.now,
          decision: decision
        )
        emit(
          .resourceOffered(
            .init(
              transfer: info.id.text,
              peer: info.peer.text,
              sender: members.name(of: info.peer),
              name: info.name.raw,
              size: UInt64(clamping: info.size),
              deadline: deadlineText(Session.offerTimeout)
            )
          )
        )
        spawn { node in await node.runDueCommands() }
      }
    } onCancel: {
      // The cancelled call waits until this has resumed it.
      Task { await self.offerEnded(info.id, number) }
    }
  }

  /// Ends an offer that the session ended: its time is over, or the sender no longer offers the file.
  private func offerEnded(_ id: TransferID, _ number: Int) {
    guard fileOffers[id]?.number == number else { return }
    endOffer(id, .over)
  }

  private func endOffer(_ id: TransferID, _ end: OfferEnd) {
    guard let offer = fileOffers.removeValue(forKey: id) else { return }
    let isLate = clock.now - offer.offeredAt >= Session.offerTimeout
    let message =
      switch end {
      case .declined: "You declined the file."
      case .over where isLate: "The file was not accepted in time."
      case .over: "The sender no longer offers the file."
      }
    emit(
      .resourceFinished(
        .init(
          transfer: id.text,
          direction: .incoming,
          peer: offer.info.peer.text,
          name: offer.info.name.raw,
          outcome: .cancelled,
          message: message
        )
      )
    )
    offer.decision.resume(returning: false)
  }

  /// Ends all offers: the node ends.
  func endFileOffers() {
    for id in fileOffers.keys.sorted(by: { $0.text < $1.text }) { endOffer(id, .over) }
  }

  /// Returns the offered file that a word of `accept` or `decline` means: the id of its transfer or the
  /// start of it, its name or that of its sender; nil if there is none or more than one, or if the word means
  /// a request to join.
  func fileOffer(_ word: String) -> TransferID? {
    guard (try? invitation(word)) == nil else { return nil }
    if word == "last", fileOffers.count == 1 { return fileOffers.keys.first }
    var book = ReferenceResolver<TransferID>()
    for (id, offer) in fileOffers {
      let peer = offer.info.peer
      let names = [offer.info.name.raw, members.name(of: peer), peer.text]
      book.add(id: id.text, names: names, value: id)
    }
    return try? book.find(word, what: "file", missing: .noSuchTransfer)
  }

  /// Answers the offer of a file.
  ///
  /// - Parameters:
  ///   - id: The transfer.
  ///   - isAccepted: Whether the file is accepted.
  ///   - isAlways: Whether the user asked to admit a peer from now on, which a file does not allow.
  /// - Throws: ``CommandError`` for `isAlways`.
  func answerOffer(_ id: TransferID, isAccepted: Bool, isAlways: Bool = false) throws(CommandError)
  {
    guard !isAlways else {
      throw CommandError(.badArgument, "`always` is for a peer that asks to join here")
    }
    guard isAccepted else { return endOffer(id, .declined) }
    fileOffers.removeValue(forKey: id)?.decision.resume(returning: true)
  }

  /// Explains that the file is no longer offered, if a word of `accept` or `decline` can only mean a file.
  ///
  /// - Parameter word: The word.
  /// - Throws: ``CommandError`` `noSuchTransfer`.
  func checkNotEnded(_ word: String) throws(CommandError) {
    guard TransferID(text: word) != nil else { return }
    throw CommandError(
      .noSuchTransfer,
      "the file is no longer offered, so there is nothing left to answer"
    )
  }
}
