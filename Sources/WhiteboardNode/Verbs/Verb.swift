/// One thing a person or a script can ask of a node, the same in every mode.
///
/// A value of this type is legal by construction of the parsers: numbers are finite and within the
/// board, names are of a sane length. Whether the object, peer or file exists is found out when the
/// verb is carried out.
package enum Verb: Equatable, Sendable {
  /// Puts a text on the board with its centre at a point.
  case text(at: BoardPoint, words: String, alias: ObjectAlias?)
  /// Draws a line through the points, over the given number of seconds (zero: at once).
  case stroke(points: [BoardPoint], seconds: Double, alias: ObjectAlias?)
  /// Puts a photo from a file on the board with its centre at a point.
  case photo(at: BoardPoint, file: String, alias: ObjectAlias?)
  /// Takes an object in hand.
  case select(ObjectReference)
  /// Lets go of whatever is in hand.
  case deselect
  /// Moves an object's centre.
  case move(ObjectReference, Movement)
  /// Sets an object's scale.
  case scale(ObjectReference, factor: Double)
  /// Sets an object's angle, in degrees clockwise.
  case rotate(ObjectReference, degrees: Double)
  /// Replaces the words of a text.
  case edit(ObjectReference, words: String)
  /// Deletes an object.
  case delete(ObjectReference)
  /// Lets a peer in that asked, or says that the words on both screens are the same (ADM-8).
  case accept(target: String)
  /// Turns a peer away that asked, or says that the words differ.
  case decline(target: String, reason: String?)
  /// Disconnects a peer and keeps it out; for the host alone.
  case kick(target: String, reason: String?)
  /// Stops a transfer, from either side.
  case cancel(target: String, reason: String?)
  /// Leaves the board with a goodbye; the program goes on.
  case leave
  /// Says something in the chat.
  case say(words: String)
  /// Sends bytes to peers, past the board; none named means all.
  case send(bytes: [UInt8], to: [String], isUnreliable: Bool)
  /// Sends a file as a named resource; none named means all.
  case resource(file: String, name: String, to: [String])
  /// Sends a file through a named byte stream; none named means all.
  case stream(name: String, file: String, to: [String])
  /// Lists the objects on the board.
  case objects
  /// Lists the peers of the session.
  case peers
  /// Tells the digest of the board.
  case digest
  /// Waits until a condition holds.
  case wait(WaitCondition, timeout: Double?)
  /// Leaves and ends the program.
  case quit
  /// Explains the verbs, or one of them.
  case help(topic: String?)

  /// Whether the verb answers an invitation.
  var answersInvitation: Bool {
    switch self {
    case .accept, .decline: true
    default: false
    }
  }

  /// How the verb is spelt in scripts.
  package var name: VerbName {
    switch self {
    case .text: .text
    case .stroke: .stroke
    case .photo: .photo
    case .select: .select
    case .deselect: .deselect
    case .move: .move
    case .scale: .scale
    case .rotate: .rotate
    case .edit: .edit
    case .delete: .delete
    case .accept: .accept
    case .decline: .decline
    case .kick: .kick
    case .cancel: .cancel
    case .leave: .leave
    case .say: .say
    case .send: .send
    case .resource: .resource
    case .stream: .stream
    case .objects: .objects
    case .peers: .peers
    case .digest: .digest
    case .wait: .wait
    case .quit: .quit
    case .help: .help
    }
  }
}

/// The spelling of each verb.
package enum VerbName: String, CaseIterable, Sendable {
  /// Puts a text on the board.
  case text
  /// Draws a line.
  case stroke
  /// Puts a photo on the board.
  case photo
  /// Takes an object in hand.
  case select
  /// Lets go.
  case deselect
  /// Moves an object.
  case move
  /// Sets a scale.
  case scale
  /// Sets an angle.
  case rotate
  /// Replaces the words of a text.
  case edit
  /// Deletes an object.
  case delete
  /// Lets a peer in, or says that words are the same.
  case accept
  /// Turns a peer away, or says that words differ.
  case decline
  /// Removes a peer.
  case kick
  /// Stops a transfer.
  case cancel
  /// Leaves the board.
  case leave
  /// Says something in the chat.
  case say
  /// Sends a message.
  case send
  /// Sends a file.
  case resource
  /// Sends a file through a byte stream.
  case stream
  /// Lists the objects.
  case objects
  /// Lists the peers.
  case peers
  /// Tells the digest.
  case digest
  /// Waits.
  case wait
  /// Ends the program.
  case quit
  /// Explains the verbs.
  case help
}

/// A verb with the mark by which its answer will be known.
package struct VerbRequest: Equatable, Sendable {
  /// What to do.
  package let verb: Verb
  /// What the answer carries back, if anything.
  package let request: RequestMark?
  /// Which line of a script it stands in, from 1; nil outside of scripts.
  package var line: Int?

  /// Makes a request for a verb.
  package init(_ verb: Verb, request: RequestMark? = nil, line: Int? = nil) {
    self.verb = verb
    self.request = request
    self.line = line
  }
}

/// The caller's own mark on a verb, given back in its answer in the form it came in.
package enum RequestMark: Equatable, Hashable, Sendable {
  /// A string of at most 256 bytes.
  case word(String)
  /// A whole number.
  case number(Int64)
}

/// A point in board units, finite and within the board.
package struct BoardPoint: Equatable, Sendable {
  /// To the right.
  package let x: Double
  /// Downwards.
  package let y: Double

  /// Makes a point where both numbers are finite and within the board, otherwise nil.
  package init?(x: Double, y: Double) {
    guard BoardPoint.admits(x), BoardPoint.admits(y) else { return nil }
    self.x = x
    self.y = y
  }

  /// Half the width and height of the board, in board units; a coordinate is at least minus this
  /// and less than this.
  package static let bound = 33_554_432.0

  /// Whether a number may be a coordinate.
  package static func admits(_ coordinate: Double) -> Bool {
    coordinate >= -bound && coordinate < bound
  }
}

/// Where a move goes.
package enum Movement: Equatable, Sendable {
  /// To a place on the board.
  case to(BoardPoint)
  /// By a distance from where the object is.
  case by(BoardPoint)
}

/// A name a script gives to an object it makes.
package struct ObjectAlias: Equatable, Hashable, Sendable, CustomStringConvertible {
  /// The name as it was given.
  package let description: String

  /// The longest alias, in characters, all ASCII.
  package static let maximumLength = 64

  /// Makes an alias, or nil where the text cannot be one.
  ///
  /// It starts with a letter, goes on with letters, digits, `-`, `_` and `.`, and is not the word
  /// `last`.
  package init?(_ text: String) {
    guard (1...ObjectAlias.maximumLength).contains(text.utf8.count), text != "last",
      let first = text.utf8.first, ObjectAlias.isLetter(first),
      text.utf8.allSatisfy({
        ObjectAlias.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
          || $0 == 0x5F
      })
    else { return nil }
    description = text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}

/// How a verb names an object.
package enum ObjectReference: Equatable, Sendable, CustomStringConvertible {
  /// The newest object made here.
  case last
  /// A name given with `as=`.
  case alias(ObjectAlias)
  /// The number part of an object id, good where it is the only one.
  case sequence(UInt64)
  /// A whole object id, `SEQ-INCARNATION`.
  case id(sequence: UInt64, incarnation: String)

  /// Reads a reference, or nil where the text is none of the four forms.
  package init?(_ text: String) {
    if text == "last" {
      self = .last
      return
    }
    if let alias = ObjectAlias(text) {
      self = .alias(alias)
      return
    }
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, !first.isEmpty, first.count <= 20,
      first.utf8.allSatisfy({ (0x30...0x39).contains($0) }), first.utf8.first != 0x30,
      let sequence = UInt64(first)
    else { return nil }
    guard parts.count == 2 else {
      self = .sequence(sequence)
      return
    }
    let incarnation = parts[1]
    guard incarnation.utf8.count == 13,
      incarnation.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) })
    else { return nil }
    self = .id(sequence: sequence, incarnation: String(incarnation))
  }

  /// The reference as it is written in a script.
  package var description: String {
    switch self {
    case .last: "last"
    case .alias(let alias): alias.description
    case .sequence(let sequence): "\(sequence)"
    case .id(let sequence, let incarnation): "\(sequence)-\(incarnation)"
    }
  }
}

/// What `wait` waits for.
package enum WaitCondition: Equatable, Sendable {
  /// At least so many other peers are connected; with zero, none is.
  case peers(Int)
  /// At least so many objects are on the board; with zero, none is.
  case objects(Int)
  /// Everything of ours has been acknowledged by every connected peer, and everything of theirs
  /// that we know of is here.
  case synced
  /// A time, in seconds.
  case seconds(Double)
}
