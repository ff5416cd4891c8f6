import PeerCore
import Whiteboard
import WhiteboardSync

extension SharedBoard {
  /// Events in a board's session and in the program that change nothing on the board. The payloads have the keys of the
  /// `--json` output. Text from other peers is `UntrustedText`. The JSON output contains the text unchanged, apart from
  /// JSON escapes.
  package enum News: Sendable {
    case ready(Ready)
    case peerFound(FoundBoard)
    case peerUpdated(FoundBoard)
    case peerLost(FoundBoard)
    case peerState(PeerState)
    case joining(Joining)
    case invitation(Invitation)
    case removed(Removed)
    case admission(Ready)
    case carried(Carried)
    case selectionLost(ObjectID, to: MemberID, name: UntrustedText?)
    case profile(Profile)
    case invited(Invited)
    case web(Web)
    case role(Role)
    /// The commands `accept` and `decline` answer the offer.
    case resourceOffered(ResourceOffered)
    case resourceStarted(ResourceStarted)
    /// Emitted at most ten times a second.
    case resourceProgress(ResourceProgress)
    /// Emitted for files and photos, even if the transfer failed.
    case resourceFinished(ResourceFinished)
    case streamOpened(StreamOpened)
    case streamData(StreamData)
    case streamClosed(StreamClosed)
    case note(Remark)
    case warning(Remark)
  }
}

extension SharedBoard.News {
  package struct Ready: Sendable, Equatable {
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
    /// The connected peers that can admit newcomers; nil if the local peer itself can admit newcomers. Otherwise,
    /// `link` is empty, and no peer can join through the local peer.
    package var admitters: [Admitter]?
  }

  package struct Admitter: Sendable, Hashable {
    package var peer: String
    package var name: UntrustedText
  }

  /// A relay now serves the board, even while the host is offline.
  package struct Carried: Sendable {
    package var relay: String
    package var name: UntrustedText
    /// Other programs join at the relay with this link; empty if the relay's address is unknown.
    package var link: String
  }

  /// A board that discovery found nearby; its announcement is not authenticated.
  package struct FoundBoard: Sendable {
    /// The announced peer id, or a prefix of it.
    package var peer: String
    package var name: UntrustedText
    package var board: String?
    package var boardName: UntrustedText?
    package var addresses: [String] = []
    package var participants: Int?
    /// The announced role: `member` or `relay`.
    package var role: String?
    /// The announced admission policy: `anyone`, `ask`, `code` or `known`.
    package var admit: String?
  }

  package struct PeerState: Sendable {
    /// The peer; nil while the program dials an address whose peer is unknown.
    package var peer: String?
    /// The display name; empty before the peer sends it.
    package var name: UntrustedText
    package var state: State
    /// The dialed address, if the peer at this address is unknown.
    package var address: String?

    package enum State: String, Sendable {
      case connecting, connected, suspect, reconnecting, lost
    }
  }

  package struct Invitation: Sendable {
    /// The id of the request, for `accept` and `decline`.
    package var id: String
    package var peer: String
    package var name: UntrustedText
    package var words: String?
    /// Incoming if the other peer asks to join, outgoing if the local peer asks.
    package var direction: Direction
    /// Whether the user must answer with `accept` or `decline` before the request proceeds.
    package var mustAnswer: Bool
    /// The deadline, in RFC 3339 format.
    package var deadline: String?
    /// The time from the beginning of the request until the deadline, in seconds.
    package var seconds: Int?
    /// True if one of the two peers has already admitted the other with the same verified key, so that the users need
    /// not compare verification words.
    package var known: Bool?
    package var warning: String?
  }

  /// A member's display name and icon, reported after a change or as the answer to `profile`.
  package struct Profile: Sendable {
    package var peer: String
    package var name: UntrustedText
    package var icon: UntrustedText?
  }

  package struct Invited: Sendable {
    package var code: String?
    /// The role that the code or link gives on an owned board: `editor` or `viewer`.
    package var role: String?
    package var link: String
    /// The browser link with each address of this computer, best first.
    package var links: [String]?
    /// The SHA-256 hash of the certificate, as browsers show it; nil if browsers do not warn about the certificate.
    package var fingerprint: String?
    /// The time at which the code or link expires, in RFC 3339 format; nil if the code or link is valid while the board
    /// is open.
    package var expires: String?

    package var isForEveryone: Bool { role != "viewer" && expires == nil }
  }

  package struct Web: Sendable {
    package var isOn: Bool
    package var origins: [String]
    package var fingerprint: String?
    package var isSelfMade: Bool?
  }

  package struct Role: Sendable {
    package var peer: String
    package var name: UntrustedText
    /// The role: `editor`, `viewer` or `relay`.
    package var role: String
    package var isOwn: Bool
  }

  package struct Joining: Sendable, Equatable {
    package var step: Step
    package var address: String?
    package var peer: String?
    package var name: UntrustedText?
    package var boardName: UntrustedText?

    package enum Step: String, Sendable {
      case searching, connecting
      /// The connection was accepted, and the peer has not answered yet.
      case awaitingAnswer = "awaiting-answer"
      case provingCode = "proving-code"
      /// The user of the other program must accept the request.
      case awaitingAcceptance = "awaiting-acceptance"
    }
  }

  package struct ResourceOffered: Sendable, Equatable {
    /// The id of the offer, for `accept` and `decline`.
    package var transfer: String
    package var peer: String
    package var sender: UntrustedText
    package var name: UntrustedText
    /// The size, in bytes.
    package var size: UInt64
    /// The deadline, in RFC 3339 format.
    package var deadline: String
  }

  package struct ResourceStarted: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var size: UInt64
  }

  package struct ResourceProgress: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var bytes: UInt64
    package var size: UInt64
  }

  package struct ResourceFinished: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var outcome: Outcome
    package var path: String?
    package var size: UInt64?
    /// The hash, in lowercase hexadecimal.
    package var sha256: String?
    package var message: UntrustedText?

    package enum Outcome: String, Sendable {
      case delivered, cancelled, failed
    }
  }

  package struct StreamOpened: Sendable {
    package var stream: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
  }

  package struct StreamData: Sendable {
    package var stream: String
    package var peer: String
    package var offset: UInt64
    /// The bytes; at most 48 KiB.
    package var bytes: [UInt8]

    package static let maximumLength = 48 * 1024
  }

  package struct StreamClosed: Sendable {
    package var stream: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var outcome: ResourceFinished.Outcome
    package var size: UInt64
    package var message: UntrustedText?
  }

  package struct Remark: Sendable {
    package var code: String
    package var message: String
    package var peer: String?
    /// The number of seconds by which the peer's clock is ahead; negative if it is behind.
    package var difference: Double?
    /// The id of the invitation, in a note with the code `invitation-ended` or `comparing`.
    package var invitation: String?
    /// The deadline, in RFC 3339 format.
    package var deadline: String?
    /// The links to the pictures of a broadcast, best first.
    package var links: [String]?
    /// The SHA-256 hash of the certificate at ``links``, as browsers show it; nil if browsers do not warn about the
    /// certificate.
    package var fingerprint: String?

    /// The code of the note that a request to join is no longer pending.
    package static let invitationEnded = "invitation-ended"
    /// The code of the note that an accepted peer will join when its user has confirmed the words.
    package static let comparing = "comparing"
    package static let fileRefused = "file-refused"
    package static let fileNotSaved = "file-not-saved"
    package static let notSaved = "not-saved"
    package static let savedAgain = "saved-again"
    package static let noUser = "nobody-to-ask"
    package static let webRevoked = "web-revoked"
    package static let discoveryUnavailable = "discovery-unavailable"
    package static let announced = "announced"
    package static let broadcast = "broadcast"
    package static let discoveryAvailable = "discovery-available"
  }
}

package enum Direction: String, Sendable {
  case incoming, outgoing
}

/// `member` is the name of a member with an id prefix, safe to display.
extension SharedBoard.News.Remark {
  static func diverged(from member: String) -> Self {
    Self(
      code: "diverged",
      message: "The boards here and at \(member) differed although both had received the same "
        + "changes. They are being made equal again."
    )
  }

  /// `links` lead to the pictures of a broadcast, best first.
  static func pictures(at links: [String], _ fingerprint: String?) -> Self {
    Self(code: broadcast, message: "pictures: \(links.first ?? "")", links: links, fingerprint: fingerprint)
  }

  static func boardFull(for member: String) -> Self {
    Self(
      code: "board-full",
      message: "There is no room here for some changes by \(member): the board is full, or an "
        + "author has reached the limit for one author. Purge deleted objects on either "
        + "side. The missing data then arrives within a minute."
    )
  }

  static func photosLeftOut(of author: String) -> Self {
    Self(
      code: "photos-left-out",
      message: "Some photos of \(author) are not requested: on a board, the photos of one author can take up "
        + "at most \(BoardLimits.photoBytesPerAuthor >> 20) MiB, and all photos together at most "
        + "\(BoardLimits.photoBytesOfBoard >> 30) GiB. If photos are purged, others are requested within a minute."
    )
  }

  static func unrecordedAuthors(in member: String) -> Self {
    Self(
      code: "unrecorded-authors",
      message: "\(member)'s copy of the board names authors without a signed record, "
        + "so it was not merged. If an earlier version saved that copy, \(member) "
        + "can repair it by closing the board and opening it again with this version. "
        + "Otherwise \(member) may be trying to fill the board; remove that peer with `kick`."
    )
  }

  static func deletedUnseen(_ ids: [ObjectID], by author: String?) -> Self {
    let what = ids.count == 1 ? "an object" : "\(ids.count) objects"
    var names = ids.prefix(4).map(\.description).joined(separator: ", ")
    if ids.count > 4 { names += ", …" }
    let end =
      author == nil
      ? "Purged objects cannot be restored." : "Restore \(ids.count == 1 ? "it" : "them") with `undelete`."
    return Self(
      code: "deleted-meanwhile",
      message: "Before your changes arrived, \(author ?? "another member") "
        + "\(author == nil ? "purged" : "deleted") \(what) that you changed: \(names). \(end)"
    )
  }

  static func violation(by member: String, _ error: ReplicaError) -> Self {
    Self(code: error.code, message: "\(member) sent data that breaks the rules of the board, and was disconnected.")
  }
}
