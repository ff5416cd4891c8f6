import Whiteboard

/// The visible points of another member's stroke that are not committed yet.
public struct StrokePreview: Hashable, Sendable {
  /// The stroke.
  public let stroke: ObjectID
  /// The member that is drawing the stroke.
  public let member: MemberID
  /// The number of committed points, which is the index of the first of `points`.
  public let first: Int
  /// The points to show after the committed points.
  ///
  /// These points replace the points of the last preview.
  public let points: [InkPoint]

  package init(stroke: ObjectID, member: MemberID, first: Int, points: [InkPoint]) {
    (self.stroke, self.member, self.first, self.points) = (stroke, member, first, points)
  }
}

/// A violation of the protocol by a member.
///
/// The session closes the member's link.
public enum ReplicaError: Error, Hashable, Sendable {
  case malformed(CodecError)
  /// An answer arrived that was not requested.
  case unrequestedAnswer
  /// A batch or an answer arrived without the record of its author.
  case noAuthor
  /// The sender used a record that belongs to another author.
  case forgedAuthor
  case wrongBoard
  case wrongKey
  case wrongSignature
  /// A head or an introduction does not continue the chain of earlier batches.
  case brokenChain
  /// A viewer sent a change or an answer.
  case viewer
  /// A grant names an owner that is not the owner of the board.
  case notOwner
  /// A role or a grant exceeds the rights of its issuer.
  case notGranted

  /// The stable code of this error, such as `wrong-board`.
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

/// An action that the owner of a `Replica` must perform, or an event that is reported to the owner.
///
/// `from` is the member whose message contained a change; nil for a local change.
public enum ReplicaAction: Hashable, Sendable {
  /// Sign these bytes with the key of the author, then call ``Replica/signed(_:signature:now:)``.
  ///
  /// Only an author without a local key requests signatures. The action that lacks the signature waits, and so do all
  /// later actions. If the owner cannot sign, it must restore the replica from its document.
  case sign(SigningRequest)
  /// Check this key or signature, then call ``Replica/verified(_:isValid:now:)``.
  ///
  /// Only a replica without a verifier requests checks. Later messages of the member wait for the result (see
  /// ``Replica/isAwaitingVerification(from:)``).
  case verify(VerificationRequest)
  /// Send a reliable message to these members.
  case send([UInt8], to: [MemberID])
  /// Send a datagram to these members. The datagram may be lost.
  case sendDatagram([UInt8], to: [MemberID])
  /// Store this change before performing later actions.
  case record(StoredChange)
  /// Photos of this author are not requested, because they exceed the budget of the author or of the board.
  case photosLeftOut(MemberID)
  case objectAdded(ObjectSnapshot, from: MemberID?)
  /// A property of an object other than its selection changed.
  case objectChanged(ObjectSnapshot, from: MemberID?)
  /// An object was deleted or purged.
  case objectRemoved(ObjectID, from: MemberID?)
  /// The holder of an object changed; nil means that no present member holds it.
  case selected(ObjectID, by: MemberID?)
  /// Another member won the selection of an object that the local member had selected.
  case selectionLost(ObjectID, to: MemberID)
  case chat(ChatLine, from: MemberID?)
  /// The previewed points of another member's stroke changed.
  case preview(StrokePreview)
  /// The pointer or the view of a member changed.
  case presence(MemberID, Presence)
  /// A wall clock differs from the other clocks, or agrees with them again.
  case clock(ClockReport)
  /// An asset was requested from a member. Accept one resource with this hash from the member.
  case wantAsset(AssetReference, from: MemberID)
  /// Send the bytes of an asset as a resource with this name, then call `assetSent`.
  case sendAsset(AssetID, ResourceDTO, to: MemberID)
  /// Encode this answer, send it as a resource, then call `answerSent`.
  case sendAnswer(OutgoingAnswer, to: MemberID)
  /// The display name and icon that a member chose.
  case profile(MemberID, name: String, icon: String)
  /// The boards of a member and of this replica differ although their contexts are equal. The set bits are the
  /// differing buckets.
  ///
  /// The cause is a fault in a program or in memory, or an author that wrote two changes with the same dot. The
  /// replicas repair the difference.
  case diverged(MemberID, buckets: UInt16)
  /// The board has no room for the changes of a member (BRD-30), so the boards differ until objects are purged.
  ///
  /// This event is reported at most once a minute for each member.
  case full(MemberID)
  /// Other members deleted or purged objects that the local member had changed, without having seen the changes.
  ///
  /// `by` is the member that deleted the objects; nil if the member is unknown, because the objects were purged.
  case deletedUnseen([ObjectID], by: MemberID?)
  /// An answer of a member was not applied, because it refers to incarnations without a record (BRD-37).
  case unrecorded(MemberID)
  /// The local role changed or was confirmed by a grant or a revocation.
  case role(Role)
  /// The role of a member on an owned board became known, or changed.
  case memberRole(MemberID, Role)
  /// Bytes that another member's application sent have arrived.
  case data(ArraySlice<UInt8>, from: MemberID, isReliable: Bool)
  /// All changes that a member had when it was asked have arrived.
  case caughtUp(MemberID)
  /// A member violated the protocol. Its message was not applied.
  case protocolViolation(MemberID, ReplicaError)
}

extension ReplicaError {
  /// A sentence for users that describes the protocol violation.
  public var message: String {
    switch self {
    case .malformed(let error): "A message of the board is malformed (\(error.code))."
    case .unrequestedAnswer: "An answer arrived that was not requested."
    case .noAuthor: "Changes arrived without the signed record of their author."
    case .forgedAuthor: "Changes arrived with the record of another author."
    case .wrongBoard: "A signed record belongs to another board."
    case .wrongKey: "A public key is not valid."
    case .wrongSignature: "A signature is not valid."
    case .brokenChain: "Changes do not continue the author's previous changes."
    case .viewer: "A viewer changed the board."
    case .notOwner: "A record names an owner that does not own the board."
    case .notGranted: "A role or a grant goes beyond what its issuer may give."
    }
  }
}
