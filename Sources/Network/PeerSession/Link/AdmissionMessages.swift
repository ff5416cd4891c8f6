import PeerCore
import PeerDiscovery
import PeerWire

// The messages that admit a dialler: proofs, verification words and ACCEPT (3.3, 4).

extension Control {
  /// The first message to an admitted dialler; ACCEPT opens the link (3.3).
  struct Accept: ControlPayload {
    static let frameType = FrameType.accept

    struct Received: ControlObject {
      var received: UInt64 = 0

      mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
        try fields.required("received", &received, .integer(in: 0...maximumControlInteger))
      }
    }

    var host = PeerID.none
    /// The maximum number of peers in the session, including both ends.
    var maximum = 1
    /// The members in this frame, at most 256; see ``fitting(_:)``.
    var members: [Member] = []
    var ticket: Ticket?
    var resume: Received?
    /// The listener's proof in admission by code (4.2).
    var proof: ProofBytes?
    /// The reason why the listener gave up the delivery state that the dialler wants to resume (CLS-3, RSM-6).
    var ended: String?
    var name: UntrustedText?
    /// How the listener, as the host, admits newcomers (MEM-17).
    var admission: AdmissionMode?
    /// The host's code; present only if `admission` is `code`.
    var code: JoinCode?
    /// The topology that the listener follows (RLY-18).
    var topology: SessionTopology?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("host", &host, .id)
      try fields.required("maximum", &maximum, .integer(in: 1...maximumControlInteger))
      try fields.required("members", &members, .list(of: .object, maximum: Limits.members))
      try fields.optional("ticket", &ticket, .object)
      try fields.optional("resume", &resume, .object)
      try fields.optional("proof", &proof, .proof)
      try fields.optional("ended", &ended, .text(0...64))
      try fields.optional("name", &name, .text(0...Limits.sessionName))
      try fields.terms(&admission, &code)
      try fields.word("topology", &topology)
    }
  }

  struct CodeProof: ControlPayload {
    static let frameType = FrameType.codeProof
    var proof = ProofBytes.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("proof", &proof, .proof)
    }
  }

  struct ShortWordsCommit: ControlPayload {
    static let frameType = FrameType.sasCommit
    var commit = ProofBytes.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("commit", &commit, .proof)
    }
  }

  struct ShortWordsNonce: ControlPayload {
    static let frameType = FrameType.sasNonce
    var nonce = ProofBytes.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("nonce", &nonce, .proof)
    }
  }

  struct ShortWordsReveal: ControlPayload {
    static let frameType = FrameType.sasReveal
    var nonce = ProofBytes.none

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("nonce", &nonce, .proof)
    }
  }
}

extension Control.Accept {
  /// Returns this payload with as many members as fit in `limit` bytes, and the members that do not fit. The sender
  /// lists the other members in MEMBERS immediately afterwards (``Control/Members/split(_:)``).
  func fitting(_ limit: Int) -> (accept: Control.Accept, rest: [Control.Member]) {
    var bare = self
    bare.members = []
    var room = limit - bare.encoded().count
    var count = 0
    for member in members.prefix(Limits.members) {
      room -= Control.Members(members: [member]).encoded().count
      guard room >= 0 else { break }
      count += 1
    }
    bare.members = Array(members.prefix(count))
    return (bare, Array(members.dropFirst(count)))
  }
}
