import PeerSession
import WhiteboardSync

extension BoardOwner {
  init(identity: PeerIdentity, salt: [UInt8]?) {
    let salt = salt.flatMap { $0.count == Self.saltBytes ? $0 : nil }
    self.init(salt: salt ?? Self.randomSalt(), key: identity.publicKey)
  }

  var session: SessionID { SessionID(board) }
}

extension SessionID {
  /// Returns a random id for a board without an owner, which names its host (MEM-14).
  package static func ofOpenBoard(hostedBy host: PeerID? = nil) -> SessionID {
    if let host { return .random(hostedBy: host) }
    while true {
      let id = SessionID.random()
      if !id.isOfOwnedBoard, !id.namesHost { return id }
    }
  }

  package static func ofBoard(ownedBy identity: PeerIdentity) -> (id: SessionID, salt: [UInt8]) {
    let owner = BoardOwner(identity: identity, salt: nil)
    return (owner.session, owner.salt)
  }
}
