extension BoardEvent {
  /// We can be reached, and this is how.
  package struct Ready: Encodable, Sendable {
    /// Our peer id.
    package var peer: String
    /// The name we go by.
    package var name: String
    /// Where we listen, as `HOST:PORT`, likeliest first.
    package var addresses: [String]
    /// The port we listen on.
    package var port: Int
    /// The id of the board.
    package var board: String
    /// The name of the board.
    package var boardName: String
    /// Who is let in: `ask`, `code`, `known` or `anyone`.
    package var admit: String
    /// The code that lets one in, where there is one.
    package var code: String?
    /// What another program joins by.
    package var link: String
    /// Whether the board is announced on the network.
    package var announced: Bool
  }

  /// A relay has our board, and keeps it when we are away.
  package struct Carried: Encodable, Sendable {
    /// The relay's peer id.
    package var relay: String
    /// What it calls itself; empty where it has not said so yet.
    package var name: String
    /// What another program joins by at the relay; empty where we know no address of it.
    package var link: String
  }

  /// A board seen nearby; what discovery says proves nothing.
  package struct FoundBoard: Encodable, Sendable {
    /// The peer id as announced, or the start of it.
    package var peer: String
    /// The name of the peer as announced.
    package var name: String
    /// The id of the board as announced.
    package var board: String?
    /// The name of the board as announced.
    package var boardName: String?
    /// Where to reach it.
    package var addresses: [String]
    /// How many are there, as announced.
    package var participants: Int?
    /// `member` or `relay`, as announced.
    package var role: String?
    /// How who asks is let in, as announced: `anyone`, `ask`, `code` or `known`.
    package var admit: String?
  }

  /// A board seen before that is gone from discovery.
  package struct LostBoard: Encodable, Sendable {
    /// The peer id as announced, or the start of it.
    package var peer: String
    /// The name of the peer as announced.
    package var name: String
    /// The id of the board as announced.
    package var board: String?
  }

  /// How the link to a peer is.
  package struct PeerState: Encodable, Sendable {
    /// The peer; nil while we dial an address and do not know whose it is.
    package var peer: String?
    /// Its name; empty before it said one.
    package var name: String
    /// How the link is.
    package var state: State
    /// The address we dial, where we do not know whose it is.
    package var address: String?

    /// The states of a link.
    package enum State: String, Encodable, Sendable {
      /// Being dialled for the first time.
      case connecting
      /// Heard lately.
      case connected
      /// Silent for a moment.
      case suspect
      /// The link is broken and dialled again.
      case reconnecting
      /// Given up.
      case lost
    }
  }

  /// Somebody asks to join, or we do.
  package struct Invitation: Encodable, Sendable {
    /// What `accept` and `decline` take.
    package var id: String
    /// The other side.
    package var peer: String
    /// Its name.
    package var name: String
    /// The words that both screens show.
    package var words: String?
    /// Who asks.
    package var direction: Direction
    /// Whether nothing goes on before `accept` or `decline`.
    package var mustAnswer: Bool
    /// When it is over, RFC 3339.
    package var deadline: String?
    /// True if the key of the other side was proved when it, or we, were admitted before: then no words need
    /// comparing.
    package var known: Bool?
    /// Why to look twice.
    package var warning: String?
  }

  /// A peer is part of the session now.
  package struct Joined: Encodable, Sendable {
    /// The peer.
    package var peer: String
    /// Its name.
    package var name: String

    package init(peer: String, name: String) {
      self.peer = peer
      self.name = name
    }
  }

  /// A peer is no longer part of the session.
  package struct Left: Encodable, Sendable {
    /// The peer.
    package var peer: String
    /// Its name.
    package var name: String
    /// Why, in one word, such as `left`, `lost`, `kicked`, `shutting-down`.
    package var reason: String
    /// The other side's words for it, if it gave any.
    package var message: String?
    /// The number of `send` messages that it did not confirm; each is answered with an error.
    package var undelivered: Int
    /// True if the peer is the host and removed us; `removed` says so too.
    package var removedUs: Bool?
  }

  /// What a member goes by, when it changes or is asked for.
  package struct Profile: Encodable, Sendable {
    /// The member; we, where it is the answer to a verb.
    package var peer: String
    /// Its name.
    package var name: String
    /// Its icon, one emoji, where it has one.
    package var icon: String?
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// A further code that lets others in.
  package struct Invited: Encodable, Sendable {
    /// The code.
    package var code: String
    /// What it lets do, where somebody owns the board: `editor` or `viewer`.
    package var role: String?
    /// What another program joins by.
    package var link: String
    /// When it is a wrong code, RFC 3339; missing where it holds for as long as the board is open.
    package var expires: String?
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// What a member may do on a board that somebody owns, when it is first told and when it changes.
  package struct Role: Encodable, Sendable {
    /// The member.
    package var peer: String
    /// Its name.
    package var name: String
    /// `editor`, `viewer` or `relay`.
    package var role: String
    /// Whether it is ourselves.
    package var isOwn: Bool

    private enum CodingKeys: String, CodingKey {
      case peer, name, role
      case isOwn = "self"
    }
  }

  /// The peers of the session, ourselves aside.
  package struct Peers: Encodable, Sendable {
    /// How many are connected.
    package var count: Int
    /// Each of them.
    package var peers: [PeerDescription]
    /// The mark of the verb that asked.
    package var request: RequestMark?
  }

  /// One peer as lines of output tell it.
  package struct PeerDescription: Encodable, Sendable, Equatable {
    /// Its id.
    package var peer: String
    /// Its name.
    package var name: String
    /// How the link is.
    package var state: PeerState.State
    /// Where it is reached.
    package var address: String?
    /// What it may do on the board, where somebody owns that: `editor`, `viewer` or `relay`.
    package var role: String?
    /// The id of the peer that admitted it, if this program knows it.
    package var admittedBy: String?
    /// The name of that peer.
    package var admittedByName: String?
  }
}
