import Whiteboard

/// The position of a missing signature in the bytes of an action.
struct SignatureGap {
  let request: SigningID
  /// The number of bytes from the start of the signature to the end of the action's bytes.
  let distanceToEnd: Int

  /// Creates the position of a signature that is followed by `trailing` other bytes.
  init(_ request: SigningID, trailing: Int = 0) {
    self.request = request
    distanceToEnd = AuthorRecord.signatureBytes + trailing
  }
}

extension Signed {
  var gaps: [SignatureGap] { request.map { [SignatureGap($0)] } ?? [] }
}

/// The actions that the owner of the replica has not received yet, in order. An action whose bytes lack a signature
/// waits, and all later actions wait behind it. The owner therefore gets the actions in the same order, however long
/// signing takes. Only datagrams do not wait, because they can overtake messages on the network anyway.
final class ActionQueue {
  private struct Waiting {
    var action: ReplicaAction
    var gaps: [SignatureGap]
  }

  private var ready: [ReplicaAction] = []
  /// The first action that lacks a signature, and all later actions.
  private var waiting: [Waiting] = []

  var hasReady: Bool { !ready.isEmpty }

  func removeReady() -> [ReplicaAction] {
    defer { ready = [] }
    return ready
  }

  func append(_ action: ReplicaAction) {
    if waiting.isEmpty { ready.append(action) } else { waiting.append(Waiting(action: action, gaps: [])) }
  }

  func append(_ action: ReplicaAction, lacking gaps: [SignatureGap]) {
    guard !gaps.isEmpty else { return append(action) }
    waiting.append(Waiting(action: action, gaps: gaps))
  }

  func queue(_ message: SyncMessage, to member: MemberID, lacking gaps: [SignatureGap] = []) {
    queue(message, to: [member], lacking: gaps)
  }

  func queue(_ message: SyncMessage, to members: [MemberID], lacking gaps: [SignatureGap] = []) {
    guard !members.isEmpty else { return }
    append(.send(message.encode(), to: members), lacking: gaps)
  }

  func queue(_ datagram: SyncDatagram, to members: [MemberID]) {
    guard !members.isEmpty else { return }
    ready.append(.sendDatagram(datagram.encode(), to: members))
  }

  func record(_ change: StoredChange, lacking gaps: [SignatureGap] = []) { append(.record(change), lacking: gaps) }

  func request(_ action: ReplicaAction) { ready.append(action) }

  func didSign(_ id: SigningID, _ signature: [UInt8]) {
    for index in waiting.indices {
      for gap in waiting[index].gaps where gap.request == id { waiting[index].action.fill(gap, with: signature) }
      waiting[index].gaps.removeAll { $0.request == id }
    }
    release()
  }

  /// If the member joins again, it must not get messages for its previous link.
  func memberLeft(_ member: MemberID) {
    guard !waiting.isEmpty else { return }
    waiting = waiting.compactMap { next in
      guard let action = next.action.removing(member) else { return nil }
      return Waiting(action: action, gaps: next.gaps)
    }
    release()
  }

  private func release() {
    let end = waiting.firstIndex { !$0.gaps.isEmpty } ?? waiting.endIndex
    ready += waiting[..<end].map { $0.action }
    waiting.removeSubrange(..<end)
  }
}

extension ReplicaAction {
  fileprivate mutating func fill(_ gap: SignatureGap, with signature: [UInt8]) {
    func filled(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      let start = bytes.count - gap.distanceToEnd
      bytes.replaceSubrange(start..<start + signature.count, with: signature)
      return bytes
    }
    switch self {
    case .send(let bytes, let members): self = .send(filled(bytes), to: members)
    case .sendAnswer(var answer, let member):
      answer.replaceBytes(filled)
      self = .sendAnswer(answer, to: member)
    case .record(.author(let bytes, let incarnation)): self = .record(.author(filled(bytes), incarnation))
    case .record(.head(let bytes, let incarnation, let sequence)):
      self = .record(.head(filled(bytes), incarnation, sequence: sequence))
    case .record(.answer(let bytes)): self = .record(.answer(filled(bytes)))
    default: preconditionFailure("only these actions contain signatures")
    }
  }

  /// Returns the action without a recipient; nil if no recipient remains.
  fileprivate func removing(_ member: MemberID) -> ReplicaAction? {
    switch self {
    case .send(let bytes, let members) where members.contains(member):
      let others = members.filter { $0 != member }
      return others.isEmpty ? nil : .send(bytes, to: others)
    case .sendAnswer(_, member), .sendAsset(_, _, member), .wantAsset(_, member): return nil
    default: return self
    }
  }
}
