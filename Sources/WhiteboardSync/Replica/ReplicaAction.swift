import Whiteboard

/// Both clocks at one moment; the core has none of its own.
public struct Moment: Hashable, Sendable {
  /// Milliseconds since 1970 by the wall clock, which may jump.
  public let wall: UInt64
  /// Milliseconds of a clock that never goes back.
  public let uptime: UInt64

  /// A moment on both clocks.
  public init(wall: UInt64, uptime: UInt64) {
    self.wall = wall
    self.uptime = uptime
  }
}

/// Points of a stroke that is being drawn elsewhere and that are not committed yet.
public struct StrokePreview: Hashable, Sendable {
  /// The stroke.
  public let stroke: ObjectID
  /// Who draws it.
  public let member: MemberID
  /// How many points are committed: the index of the first of `points`.
  public let first: Int
  /// The points to show after the committed ones; replaces what the last preview showed.
  public let points: [InkPoint]
}

/// What a member did that a member may not; the session decides what becomes of its link.
public enum ReplicaError: Error, Hashable, Sendable {
  /// A message or a datagram is not of its form.
  case malformed(CodecError)
  /// An answer to nothing that was asked.
  case unrequestedAnswer
  /// A batch, or an answer, of nobody who said who it is.
  case noAuthor
  /// What somebody else signed, as if it were the sender's.
  case forgedAuthor
  /// What was written for another board.
  case wrongBoard
  /// A public key is none.
  case wrongKey
  /// A signature does not hold.
  case wrongSignature
  /// A head or a new beginning that does not follow from the batches before it.
  case brokenChain
  /// What one who only looks on may not do.
  case viewer
  /// Somebody who does not own the board, as if it were theirs.
  case notOwner
  /// A role, or a grant, beyond what the one before it in line allows.
  case notGranted

  /// The stable word for this error.
  public var code: String {
    switch self {
    case .malformed(let error): error.code
    case .unrequestedAnswer: "unrequested-answer"
    case .noAuthor: "no-author"
    case .forgedAuthor: "forged-author"
    case .wrongBoard: "wrong-board"
    case .wrongKey: "key"
    case .wrongSignature: "signature"
    case .brokenChain: "chain"
    case .viewer: "viewer"
    case .notOwner: "owner"
    case .notGranted: "role"
    }
  }
}

/// What the owner of a `Replica` is to do or to tell, in order.
///
/// `from` is the member whose message brought a change; nil where it was made here.
public enum ReplicaAction: Hashable, Sendable {
  /// Send a reliable message to these members.
  case send([UInt8], to: [MemberID])
  /// Send a datagram to these members; it may be lost.
  case sendDatagram([UInt8], to: [MemberID])
  /// Keep this, before anything that follows: it changed what the replica holds.
  case record(StoredChange)
  /// Photos of this author are not requested, because they exceed its budget or that of the board.
  case photosLeftOut(MemberID)
  /// An object appeared.
  case objectAdded(ObjectSnapshot, from: MemberID?)
  /// An object changed in something other than its selection.
  case objectChanged(ObjectSnapshot, from: MemberID?)
  /// An object went: deleted or purged.
  case objectRemoved(ObjectID, from: MemberID?)
  /// The holder of an object changed; nil means that no present member holds it.
  case selected(ObjectID, by: MemberID?)
  /// An object that we had selected went to another in a race.
  case selectionLost(ObjectID, to: MemberID)
  /// A line of the chat appeared.
  case chat(ChatLine, from: MemberID?)
  /// What shows of a stroke being drawn elsewhere grew, beyond its committed points.
  case preview(StrokePreview)
  /// A member points elsewhere, or looks at another part of the board.
  case presence(MemberID, Presence)
  /// A wall clock is far off, or is right again.
  case clock(ClockReport)
  /// An asset was asked for from a member: accept one resource of it with this hash.
  case wantAsset(AssetReference, from: MemberID)
  /// Send the bytes of an asset as a resource of this name; then call `assetSent`.
  case sendAsset(AssetID, ResourceDTO, to: MemberID)
  /// Send an answer as a resource of this name, its bytes these; then call `answerSent`.
  case sendAnswer([UInt8], ResourceDTO, to: MemberID)
  /// What to call a member; the text is the member's own.
  case profile(MemberID, name: String, icon: String)
  /// A member that has seen the same holds something else, in the buckets whose bits are set.
  ///
  /// A fault of a program or of memory, or a member who wrote two things under one name. It is
  /// being repaired.
  case diverged(MemberID, buckets: UInt16)
  /// What a member made has no room here (BRD-30), so that the boards differ until something is purged.
  ///
  /// Told at most once a minute for a member.
  case full(MemberID)
  /// An answer of a member names incarnations without a record; nothing of it was applied (BRD-37).
  case unrecorded(MemberID)
  /// What we may do on the board, as who may grant says, or as a revocation has it.
  case role(Role)
  /// What a member may do there, where that is told for the first time or changed.
  case memberRole(MemberID, Role)
  /// Bytes of the application's arrived.
  case data(ArraySlice<UInt8>, from: MemberID, isReliable: Bool)
  /// All that a member had when we asked is here.
  case caughtUp(MemberID)
  /// A member broke the protocol; nothing of the message was applied.
  case protocolViolation(MemberID, ReplicaError)
}
