/// The numbers of `Protocol/session.md`, 10.
public enum Limits {
  /// Bytes in a frame's payload (FRM-1).
  public static let framePayload = 65_536
  /// Bytes in a frame's payload before admission (FRM-1).
  public static let framePayloadBeforeAdmission = 8_192
  /// Bytes in the payload of ACCEPT (FRM-1).
  public static let acceptPayload = 4_096
  /// The maximum nesting of JSON in a control payload (FRM-5).
  public static let jsonDepth = 16
  /// Bytes in a display name (3.1).
  public static let displayName = 64
  /// Addresses a peer may name (3.1).
  public static let addresses = 16
  /// Bytes in an invitation's context (3.1).
  public static let invitationContext = 1_024
  /// Connections short of admission from one address (LNK-6).
  public static let pendingConnectionsPerAddress = 16
  /// Connections short of admission in all (LNK-6).
  public static let pendingConnections = 64
  /// Connections short of admission, of all, that only addresses of members get (LNK-6).
  public static let pendingConnectionsReserved = 8
  /// Invitations waiting for a person (HEL-5).
  public static let pendingInvitations = 16
  /// Invitations waiting for a person from one address (HEL-5).
  public static let pendingInvitationsPerAddress = 2
  /// Invitations waiting for a person, of all, that only expected peers get (HEL-5).
  public static let pendingInvitationsReserved = 4
  /// Codes besides its own by which a session lets in (ADM-9).
  public static let invitationCodes = 15
  /// Wrong proofs before a lock (ADM-3).
  public static let wrongProofs = 3
  /// The maximum number of removed peers that a session remembers (MEM-7).
  public static let removedPeers = 1_024
  /// The maximum number of bytes of a session's name (3.3, 11.1).
  public static let sessionName = 128
  /// The maximum number of members that a session remembers (MEM-1).
  public static let members = 256
  /// The maximum number of signatures in a ticket's chain (TCK-3).
  public static let ticketChain = 6
  /// Members only heard of that are dialled at a time (MEM-6).
  public static let dialsToStrangers = 4
  /// Attempts at a member only heard of, until it is heard of again (MEM-6).
  public static let dialsToOneStranger = 8
  /// Bytes in a message (MSG-1).
  public static let message = 16_777_216
  /// Messages held for an application that does not take them (MSG-5).
  public static let heldMessages = 1_000
  /// Bytes in a datagram message (DGM-6).
  public static let datagramMessage = 65_536
  /// Bytes in a datagram message by way of a relay, its head counted (11.5).
  public static let relayDatagram = datagramMessage + 34
  /// Bytes in a UDP payload (DGM-6).
  public static let packet = 1_200
  /// Bytes of a piece of a datagram message (7.2).
  public static let datagramPiece = 1_100
  /// Bytes in a resource's name (8.2).
  public static let resourceName = 16_384
  /// Resources of one peer at a time, and as many again that the receiver requested (RES-6).
  public static let resources = 8
  /// Bytes in a stream's name (8.3).
  public static let streamName = 1_024
  /// Streams of one peer at a time (STR-3).
  public static let streams = 24
  /// Bytes of a stream held unread (STR-2).
  public static let streamHeld = 1_048_576
  /// Bulk links of one peer (BLK-4).
  public static let bulkLinks = 32
  /// Tunnels of a relay in one session (RLY-11).
  public static let tunnels = 64
}
