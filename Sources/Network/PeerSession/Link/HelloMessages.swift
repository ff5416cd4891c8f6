import PeerCore
import PeerDiscovery
import PeerWire

// The HELLO messages, in which both sides of a link introduce themselves (3.1).

extension Control {
  /// Returns the number of a link whose two HELLOs have these values of `links` (3.1).
  static func linkNumber(after own: Int, _ theirs: Int) -> Int { min(max(own, theirs), maximumControlInteger - 1) + 1 }

  /// The protocol versions that a peer supports, encoded in JSON as `[lowest, highest]`.
  package struct VersionRange: Equatable, Sendable {
    package var lowest: Int
    package var highest: Int

    static let form = ControlForm<VersionRange> { (tree, path) throws(ControlMessageError) in
      let ends = try ControlForm<[Int]>.list(of: .integer(in: 0...maximumControlInteger), maximum: 2).read(tree, path)
      guard ends.count == 2, ends[0] <= ends[1] else { throw .outOfRange(path) }
      return VersionRange(lowest: ends[0], highest: ends[1])
    } write: {
      "[\($0.lowest),\($0.highest)]"
    }

    /// Returns the highest version in both ranges, or `nil` if they have no version in common (HEL-1).
    func common(with other: VersionRange) -> Int? {
      let version = min(highest, other.highest)
      return version >= max(lowest, other.lowest) ? version : nil
    }
  }

  /// An unknown role is treated as `member`.
  enum Role: String, Sendable {
    case member
    case relay
  }

  /// The common part of both directions of HELLO (3.1).
  struct Introduction: ControlObject {
    var versions = Control.versions
    var session = SessionID.none
    /// The display name, 1 to 64 bytes; not verified.
    var name = UntrustedText("")
    var incarnation = SessionIncarnation.unknown
    /// The port; 0 for a peer that does not listen.
    var port = 0
    /// The addresses of the peer: IP literals without scope, best first; at most 16.
    var addresses: [String] = []
    var role = Role.member
    /// The number of the last control link with this peer in any incarnation; 0 if there was none (DUP-1).
    var links = 0
    /// The rate limits of a relay for a member (RLY-14).
    var passes: RelayRate?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("protocol", &versions, VersionRange.form)
      try fields.required("session", &session, .id)
      try fields.required("name", &name, .text(1...Limits.displayName))
      try fields.required("incarnation", &incarnation, .id)
      try fields.required("port", &port, .integer(in: 0...65_535))
      try fields.required("addresses", &addresses, .addresses)
      try fields.required("role", &role, .word(or: .member))
      try fields.required("links", &links, .integer(in: 0...maximumControlInteger))
      try fields.optional("passes", &passes, .object)
    }
  }

  /// The delivery state of an earlier link that the dialler still has (RSM-1).
  struct Resume: ControlObject {
    var incarnation = SessionIncarnation.unknown
    var received: UInt64 = 0
    /// The number of the link that began the delivery state (RSM-5).
    var since: Int?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try fields.required("incarnation", &incarnation, .id)
      try fields.required("received", &received, .integer(in: 0...maximumControlInteger))
      try fields.optional("since", &since, .integer(in: 1...maximumControlInteger))
    }
  }

  struct InvitationRequest: ControlObject {
    static let defaultTimeout = Duration.seconds(300)
    /// The allowed range of the timeout, in milliseconds.
    static let milliseconds = 1_000...600_000

    private(set) var timeout = defaultTimeout
    /// The data for the listener's application; at most 1,024 bytes.
    private(set) var context: [UInt8] = []
    /// The pass of the listener's join link (HEL-9).
    private(set) var pass: InvitationPass?

    init() {}

    init(timeout: Duration = defaultTimeout, context: [UInt8] = [], pass: InvitationPass? = nil) {
      precondition(
        context.count <= Limits.invitationContext,
        "the context of an invitation has at most 1,024 bytes (section 3.1)"
      )
      let lowest = Duration.milliseconds(Self.milliseconds.lowerBound)
      let highest = Duration.milliseconds(Self.milliseconds.upperBound)
      self.timeout = min(max(timeout, lowest), highest)
      self.context = context
      self.pass = pass
    }

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      var milliseconds: Int? = Int(timeout / .milliseconds(1))
      try fields.optional("timeout", &milliseconds, .integer(in: Self.milliseconds))
      timeout = milliseconds.map { .milliseconds($0) } ?? Self.defaultTimeout
      try fields.optional("context", &context, .base64(maximum: Limits.invitationContext), unless: [])
      try fields.optional("pass", &pass, .id)
    }
  }

  struct DiallerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction = Introduction()
    var resume: Resume?
    /// The reason why the dialler gave up its delivery state with the listener (RSM-6).
    var ended: String?
    var ticket: Ticket?
    var invitation: InvitationRequest?
    /// For a relay: the request to relay the session (11.1).
    var carry: Carry?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try introduction.list(&fields)
      try fields.optional("resume", &resume, .object)
      try fields.optional("ended", &ended, .text(0...64))
      try fields.optional("ticket", &ticket, .object)
      try fields.optional("invitation", &invitation, .object)
      try fields.optional("carry", &carry, .object)
    }

    /// Returns whether the dialler wants to resume the delivery state that a listener holds (RSM-2, RSM-5).
    func resumes(deliveryOf dialler: SessionIncarnation, since: Int, at listener: SessionIncarnation) -> Bool {
      guard let resume else { return false }
      return introduction.incarnation == dialler && resume.incarnation == listener && resume.since ?? since == since
    }
  }

  /// The step that admits the dialler (3.1).
  enum AdmissionStep: String, Sendable {
    case none
    case code
    case ask
  }

  struct ListenerHello: ControlPayload {
    static let frameType = FrameType.hello

    var introduction = Introduction()
    var admission = AdmissionStep.none
    /// The listener's proof that it belongs to the session (MEM-8).
    var ticket: Ticket?

    mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
      try introduction.list(&fields)
      try fields.required("admission", &admission, .word())
      try fields.optional("ticket", &ticket, .object)
    }
  }
}
