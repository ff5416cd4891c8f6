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
  /// Whether the session id belongs to a board with an owner.
  package var isOfOwnedBoard: Bool { BoardID(self).isOwned }

  /// Returns a random id for a board without an owner.
  package static func ofOpenBoard() -> SessionID {
    while true {
      let id = SessionID.random()
      if !id.isOfOwnedBoard { return id }
    }
  }

  /// Returns the id of a new board that an identity owns, and the salt from which the id is
  /// derived.
  package static func ofBoard(ownedBy identity: PeerIdentity) -> (id: SessionID, salt: [UInt8]) {
    let owner = BoardOwner(identity: identity, salt: nil)
    return (owner.session, owner.salt)
  }
}
