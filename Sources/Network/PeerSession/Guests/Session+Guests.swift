import Crypto
import NIOCore
import PeerWire

// Guests: members that join from a browser, through a gateway (`Protocol/web.md`).
extension Session {
  /// The maximum number of browser links that can admit new guests at the same time (WEB-5).
  public static let guestLinkLimit = 64

  /// Lets browsers that have a browser link connect to this session (WEB-5).
  ///
  /// From then on, the local peer also relays data between the members, because no member can dial a browser (WEB-7).
  ///
  /// - Throws: `notHost` if the local peer is neither the host nor a relay of the session; `sessionEnded`.
  public func openToGuests() async throws(SessionError) {
    try await onLoop { core in
      guard core.host == core.localPeer || core.relaying.isRelaying else {
        throw SessionError(.notHost, "Only the host of the session, or its relay, can let browsers join.")
      }
      core.relaying.becomeHub()
      core.admission.guests.isOpen = true
    }
  }

  /// Disconnects all guests, and prevents browsers from connecting.
  ///
  /// The browser links stay valid: after another ``openToGuests()``, the guests can return.
  public func closeToGuests() async {
    try? await onLoop { core in
      core.admission.guests.isOpen = false
      // A guest without a link cannot return, so such a guest leaves too.
      for entry in core.entries.values
      where entry.guestKey != nil && entry.isJoined && entry.link?.isFromBrowser != false {
        core.disconnect(entry.id, .shuttingDown, .disconnected, message: "")
      }
    }
  }

  /// Adds a browser link, or replaces the browser link with the same key.
  ///
  /// - Parameters:
  ///   - key: The key of the browser link.
  ///   - label: The label in ``Peer/admission`` of the guests that join with this link.
  ///   - time: How long the link is valid; `nil` means until ``removeGuests(admittedWith:and:reason:)``.
  ///   - guests: The only guests that may use the link from now on; `nil` means anyone with the link.
  ///   - limit: The number of guests that may join with the link, including those in `joined` (WEB-57).
  ///   - joined: Guests that joined with the link before this process started.
  /// - Throws: `busy` if ``guestLinkLimit`` other links admit new guests; `sessionEnded`.
  public func invite(
    _ key: GuestKey,
    label: String? = nil,
    for time: Duration? = nil,
    only guests: Set<PeerID>? = nil,
    limit: Int = .max,
    joined: Set<PeerID> = []
  ) async throws(SessionError) {
    let (id, peer) = (id, localPeer)
    try await onLoop { core in
      guard core.admission.guests.contains(key) || core.admission.guests.openCount() < Self.guestLinkLimit else {
        throw SessionError(
          .busy,
          "This session already has \(Self.guestLinkLimit) browser links, which is the maximum."
        )
      }
      let code = CodeKey(key, session: id, listener: peer)
      core.admission.guests.set(
        CodeChoice(key: code, label: label, guestKey: key),
        key: key,
        until: time.map { NIODeadline.now() + TimeAmount($0) },
        for: guests,
        limit: limit,
        joined: joined
      )
    }
  }

  /// Revokes a browser link, and removes the guests that joined with it (WEB-10).
  ///
  /// A host removes them for all members, permanently (MEM-3). A relay disconnects them.
  ///
  /// - Parameters:
  ///   - key: The key of the browser link.
  ///   - others: Guests that joined with the link before this process started.
  ///   - reason: The reason, shown to the guests; truncated to 512 bytes.
  public func removeGuests(admittedWith key: GuestKey, and others: [PeerID] = [], reason: String) async {
    try? await onLoop { core in
      core.admission.guests.remove(key)
      let guests = core.entries.values.filter { $0.guestKey == key }.map(\.id)
      // Guests that the session has forgotten need no removal, because no member admits them now.
      let known = others.filter { core.entries[$0] != nil || core.membership.contains($0) }
      for guest in Set(guests + known).sorted() {
        if core.host == core.localPeer {
          core.directory.kick(guest, reason: reason)
        } else {
          core.disconnect(guest, .kicked, .disconnected, message: reason)
        }
      }
    }
  }

  /// Returns the key of the browser link with which a guest joined. Returns nil if `proof` does not prove that the
  /// guest's page asks for a link with `role` (WEB-58), or if the guest has no open web link.
  package func guestKey(of guest: PeerID, asking role: String, proof: [UInt8]) async -> GuestKey? {
    try? await onLoop { core in
      guard let entry = core.entries[guest], entry.isJoined, let key = entry.guestKey, let link = entry.link,
        link.isFromBrowser, let exporter = link.facts.exporter,
        key.isProof(proof, ofInvitationFor: role, binding: exporter.export(.binding))
      else { return nil }
      return key
    }
  }

  /// Removes a browser link; its guests stay in the session.
  public func removeLink(_ key: GuestKey) async { try? await onLoop { $0.admission.guests.remove(key) } }
}

extension PeerTransport {
  /// The event loop of all links; a gateway for browsers must run on it.
  package var linkEventLoop: any EventLoop { eventLoop }

  /// Accepts the connection of a browser, or refuses it if too many connections wait for admission (WEB-1). If this
  /// method throws, the caller must close the channel. Call this method on ``linkEventLoop``; the last handler of the
  /// channel reads and writes the bytes of the web link.
  package func acceptBrowser(_ channel: any Channel, origin: String) throws {
    try core.value.acceptBrowser(channel, origin: origin)
  }
}

/// The key with which a browser proves that it has a browser link to a session (WEB-12).
///
/// A browser stores this key instead of the secret in the browser link.
public struct GuestKey: Hashable, Sendable {
  let bytes: ProofBytes

  /// Derives the key from the secret in a browser link.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - session: The session that the link names.
  public init(_ secret: GuestSecret, for session: SessionID) {
    let input = Array("whiteboard-p2p web key 1\0".utf8) + secret.bytes + session.bytes
    guard let bytes = ProofBytes(SHA256.hash(data: input)) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    self.bytes = bytes
  }

  /// Checks the proof of a page that asks for a link to show to others (WEB-58), in constant time.
  func isProof(_ proof: [UInt8], ofInvitationFor role: String, binding: [UInt8]) -> Bool {
    let input = Array("whiteboard-p2p web invite 1\0".utf8) + binding + role.utf8
    return HMAC<SHA256>.isValidAuthenticationCode(proof, authenticating: input, using: SymmetricKey(data: bytes.bytes))
  }
}
