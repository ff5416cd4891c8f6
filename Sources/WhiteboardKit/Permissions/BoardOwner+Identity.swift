import PeerSession
import WhiteboardSync

extension BoardOwner {
  /// Creates the owner of a board.
  ///
  /// - Parameters:
  ///   - identity: The identity of the owner.
  ///   - salt: The salt of the board; if it is nil or has the wrong length, a random salt is used.
  init(identity: PeerIdentity, salt: [UInt8]?) {
    let salt = salt.flatMap { $0.count == Self.saltBytes ? $0 : nil }
    self.init(salt: salt ?? Self.randomSalt(), key: identity.publicKey)
  }

  /// The id of the board's session.
  var session: SessionID { SessionID(board) }
}

extension SessionID {
  /// Returns a random id for a board without an owner, which names its host (MEM-14).
  ///
  /// - Parameter host: The peer that creates the board; nil for an id that names no host, as in earlier releases.
  /// - Returns: The id.
  package static func ofOpenBoard(hostedBy host: PeerID? = nil) -> SessionID {
    if let host { return .random(hostedBy: host) }
    while true {
      let id = SessionID.random()
      if !id.isOfOwnedBoard, !id.namesHost { return id }
    }
  }

  /// Returns the id of a new board that an identity owns, and the salt from which the id is derived.
  package static func ofBoard(ownedBy identity: PeerIdentity) -> (id: SessionID, salt: [UInt8]) {
    let owner = BoardOwner(identity: identity, salt: nil)
    return (owner.session, owner.salt)
  }
}
