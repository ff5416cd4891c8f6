import PeerCore

extension BoardEvent {
  package struct Ready: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// The addresses on which the program listens, as `HOST:PORT`, most useful first.
    package var addresses: [String]
    package var port: Int
    package var board: String
    package var boardName: UntrustedText
    /// The admission policy: `ask`, `code`, `known` or `anyone`.
    package var admit: String
    package var code: String?
    package var link: String
    package var announced: Bool
    /// The connected peers that can admit newcomers; nil if the local peer can.
    ///
    /// If the local peer cannot, `link` is empty, and no peer can join through it.
    package var admitters: [Admitter]?
  }

  package struct Admitter: Sendable, Hashable {
    package var peer: String
    package var name: UntrustedText
  }

  /// The way in which the local peer admits newcomers changed.
  package struct Admission: Sendable, Equatable {
    /// The admission policy: `ask`, `code`, `known` or `anyone`.
    package var admit: String
    package var code: String?
    /// The link by which other programs join; empty if the local peer cannot admit newcomers.
    package var link: String
    package var announced: Bool
    /// The connected peers that can admit newcomers; nil if the local peer can.
    package var admitters: [Admitter]?

    package init(_ ready: Ready) {
      admit = ready.admit
      code = ready.code
      link = ready.link
      announced = ready.announced
      admitters = ready.admitters
    }
  }

  /// A relay now serves the board, even while the host is offline.
  package struct Carried: Sendable {
    package var relay: String
    package var name: UntrustedText
    /// The link by which other programs join at the relay; empty if the relay's address is unknown.
    package var link: String
  }

  /// A board that discovery found nearby.
  ///
  /// Its announcement is not authenticated.
  package struct FoundBoard: Sendable {
    /// The announced peer id, or a prefix of it.
    package var peer: String
    package var name: UntrustedText
    package var board: String?
    package var boardName: UntrustedText?
    package var addresses: [String]
    package var participants: Int?
    /// The announced role of the peer: `member` or `relay`.
    package var role: String?
    /// The announced admission policy: `anyone`, `ask`, `code` or `known`.
    package var admit: String?
  }

  package struct LostBoard: Sendable {
    /// The announced peer id, or a prefix of it.
    package var peer: String
    package var name: UntrustedText
    package var board: String?
  }

  package struct PeerState: Sendable {
    /// The peer; nil while the program dials an address whose peer is unknown.
    package var peer: String?
    /// The display name of the peer; empty before the peer sends one.
    package var name: UntrustedText
    package var state: State
    /// The address that is dialed, if the peer there is unknown.
    package var address: String?

    package enum State: String, Sendable {
      /// The peer is dialed for the first time.
      case connecting
      case connected
      /// The peer has been silent for a short time.
      case suspect
      /// The link broke, and the peer is dialed again.
      case reconnecting
      /// The program gave up reconnecting.
      case lost
    }
  }

  package struct Invitation: Sendable {
    /// The id of the request, for `accept` and `decline`.
    package var id: String
    package var peer: String
    package var name: UntrustedText
    /// The verification words that both screens show.
    package var words: String?
    /// The direction: `incoming` if the other peer asks to join, `outgoing` if the local peer asks.
    package var direction: Direction
    /// Whether the user must answer with `accept` or `decline` before the request proceeds.
    package var mustAnswer: Bool
    /// The time at which the request expires, in RFC 3339 format.
    package var deadline: String?
    /// The time until the deadline in seconds, when the request began.
    package var seconds: Int?
    /// True if one of the two peers has already admitted the other with the same verified key.
    ///
    /// In this case, the users need not compare verification words.
    package var known: Bool?
    /// The reason why the user should be careful, if there is one.
    package var warning: String?
  }

  package struct Joined: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// The id of the peer through which it is reached; nil if it is reached directly.
    package var through: String?
    package var throughName: UntrustedText?

    package init(peer: String, name: UntrustedText) {
      self.peer = peer
      self.name = name
    }
  }

  package struct Left: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// The reason, in one word, such as `left`, `lost`, `kicked` or `shutting-down`.
    package var reason: String
    /// The peer's exit message, if it sent one.
    package var message: UntrustedText?
    /// The number of `send` messages that the peer did not confirm; the answer to each of them is an error.
    package var undelivered: Int
    /// True if the peer is the host and removed the local member; a `removed` event also reports the removal.
    package var removedUs: Bool?
  }

  /// The display name and icon of a member, reported after a change or as the answer to `profile`.
  package struct Profile: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// The member's icon, one emoji; nil if it has none.
    package var icon: UntrustedText?
    package var request: RequestMark?
  }

  package struct Invited: Sendable {
    /// The join code; nil for a browser link.
    package var code: String?
    /// The role that the code or link gives on an owned board: `editor` or `viewer`.
    package var role: String?
    /// The link with which other programs join, or the browser link.
    package var link: String
    /// The browser link with each address of this computer, best first.
    package var links: [String]?
    /// The SHA-256 hash of the certificate, as browsers show it; nil if browsers do not warn about it.
    package var fingerprint: String?
    /// The time at which the code or link expires, in RFC 3339 format; nil if it is valid while the board is open.
    package var expires: String?
    package var request: RequestMark?

    /// Whether the code or link lets new members edit, and has no time limit.
    package var isForEveryone: Bool { role != "viewer" && expires == nil }
  }

  package struct Web: Sendable {
    package var isOn: Bool
    package var origins: [String]
    /// The SHA-256 hash of the page's certificate, as browsers show it.
    package var fingerprint: String?
    /// Whether browsers warn about the certificate, because this program made it.
    package var isSelfMade: Bool?
    package var request: RequestMark?
  }

  package struct Role: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// `editor`, `viewer` or `relay`.
    package var role: String
    package var isOwn: Bool
  }

  package struct Peers: Sendable {
    package var count: Int
    package var peers: [PeerDescription]
    package var request: RequestMark?
  }

  package struct PeerDescription: Sendable, Equatable {
    package var peer: String
    package var name: UntrustedText
    package var state: PeerState.State
    package var address: String?
    /// The id of the peer through which it is reached; nil if it is reached directly.
    package var through: String?
    package var throughName: UntrustedText?
    /// The role of the peer on an owned board: `editor`, `viewer` or `relay`.
    package var role: String?
    /// The id of the peer that admitted this peer, if known.
    package var admittedBy: String?
    package var admittedByName: UntrustedText?
  }
}
