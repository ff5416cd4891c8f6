import PeerCore

/// The limits listed in `Protocol/session.md`, section 10.
public enum Limits {
  /// The maximum length of a frame's payload in bytes (FRM-1).
  public static let framePayload = 65_536
  /// The maximum length of a frame's payload before admission, in bytes (FRM-1).
  public static let framePayloadBeforeAdmission = 8_192
  /// The maximum length of an ACCEPT payload in bytes (FRM-1).
  public static let acceptPayload = 4_096
  /// The maximum nesting depth of JSON in a control payload (FRM-5).
  public static let jsonDepth = JSONReader.strictDepthLimit
  /// The maximum length of a display name in bytes (3.1).
  public static let displayName = 64
  /// The maximum number of addresses that a peer lists (3.1).
  public static let addresses = 16
  /// The maximum length of an invitation's context in bytes (3.1).
  public static let invitationContext = 1_024
  /// The maximum number of connections from one address that are not yet admitted (LNK-6).
  public static let pendingConnectionsPerAddress = 16
  /// The maximum number of connections that are not yet admitted (LNK-6).
  public static let pendingConnections = 64
  /// The number of ``pendingConnections`` that are reserved for the addresses of members (LNK-6).
  public static let pendingConnectionsReserved = 8
  /// The maximum number of invitations that wait for the user's answer (HEL-5).
  public static let pendingInvitations = 16
  /// The maximum number of invitations from one address that wait for the user's answer (HEL-5).
  public static let pendingInvitationsPerAddress = 2
  /// The number of ``pendingInvitations`` that are reserved for expected peers (HEL-5).
  public static let pendingInvitationsReserved = 4
  /// The maximum number of additional join codes of a session (ADM-9).
  public static let invitationCodes = 15
  /// The number of wrong proofs after which the listener locks out the sender of the proofs for a time (ADM-3).
  public static let wrongProofs = 3
  /// The maximum number of removed peers that a session stores (MEM-7).
  public static let removedPeers = 1_024
  /// The maximum length of a session's name in bytes (3.3, 11.1).
  public static let sessionName = 128
  /// The maximum number of members that a session stores (MEM-1).
  public static let members = 256
  /// The maximum number of signatures in a ticket's chain (TCK-3).
  public static let ticketChain = 6
  /// The maximum number of members that are dialed at the same time although they were never connected (MEM-6).
  public static let dialsToStrangers = 4
  /// The number of attempts to dial a member that was never connected (MEM-6).
  ///
  /// After that, the member is dialed only if it is announced again.
  public static let dialsToOneStranger = 8
  /// The number of attempts to dial a member that was never connected, and that only an ordinary member named (MEM-18).
  public static let dialsToHearsay = 4
  /// The maximum number of members that one ordinary member may name, if these members have no link and were never met
  /// (MEM-18).
  public static let strangersNamed = 32
  /// The maximum length of a message in bytes (MSG-1).
  public static let message = 16_777_216
  /// The maximum number of messages that wait for the application (MSG-5).
  public static let heldMessages = 1_000
  /// The maximum length of a datagram message in bytes (DGM-6).
  public static let datagramMessage = 65_536
  /// The maximum length of a datagram message between a member and a relay, including its head (11.5).
  public static let relayDatagram = datagramMessage + 34
  /// The maximum length of a UDP payload in bytes (DGM-6).
  public static let packet = 1_200
  /// The length in bytes of every piece of a datagram message except the last (7.2).
  public static let datagramPiece = 1_100
  /// The maximum length of a resource's name in bytes (8.2).
  public static let resourceName = 16_384
  /// The maximum number of simultaneous transfers from one peer (RES-6).
  ///
  /// Requested resources have a separate limit with the same value.
  public static let resources = 8
  /// The maximum length of a stream's name in bytes (8.3).
  public static let streamName = 1_024
  /// The maximum number of streams that one peer may have open at the same time (STR-3).
  public static let streams = 24
  /// The maximum number of unread bytes buffered for a stream (STR-2).
  public static let streamHeld = 1_048_576
  /// The maximum number of bulk links with one peer (BLK-4).
  public static let bulkLinks = 32
  /// The maximum number of tunnels in one session at a relay (RLY-11).
  public static let tunnels = 64
  /// The maximum number of routes that a bridge opens in one session (RLY-17).
  public static let bridgedPairs = 120
}
