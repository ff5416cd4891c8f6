import CommandLines
import FoundationEssentials
import PeerCore
import WhiteboardKit

/// A request to a running relay: one line of JSON over its control socket.
package struct ControlRequest: Codable, Equatable, Sendable {
  package enum Command: String, Codable, CaseIterable, Sendable {
    case status, boards, create, pin, unpin, delete, peers, invite, revoke, role, kick, compact, drain
    case cluster
    case clusterBoards = "cluster-boards"
  }

  package var command: Command
  package var board: String?
  package var name: String?
  package var admit: String?
  package var code: String?
  /// Whether the relay owns the new board and decides which peers can edit it.
  package var owned: Bool?
  package var days: Int?
  package var terms: InvitationTerms?
  package var peer: String?
  package var role: String?
  /// The reason that `kick` shows to the removed peer.
  package var reason: String?
  package var withAdmitted: Bool?
  /// Whether `kick` leaves the join code of the board unchanged.
  package var keepCode: Bool?

  package init(_ command: Command, board: String? = nil) {
    self.command = command
    self.board = board
  }

  init(line: [UInt8]) throws(WhiteboardError) {
    do { self = try JSONDecoder().decode(ControlRequest.self, from: Data(line)) } catch {
      throw WhiteboardError(
        .usage,
        "a request must be a JSON object with one of these commands: "
          + Command.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
  }
}

package struct RelayReport: Codable, Equatable, Sendable {
  package let name: String
  package let peer: String
  /// The relay's addresses with the port, best first.
  package let addresses: [String]
  package let boards: Int
  package let failed: Int
  /// The number of boards with changes that are not saved.
  package let unsaved: Int
  package let people: Int
  /// The time since the start of the relay, in seconds.
  package let uptime: Int
}

package struct PersonReport: Codable, Equatable, Sendable {
  package let board: String
  package let boardName: UntrustedText
  package let peer: String
  package let name: UntrustedText
}

package struct InvitationReport: Codable, Equatable, Sendable {
  package let board: String
  /// The additional code (four words); `nil` for a browser link.
  package let code: String?
  package let link: String
  /// The browser link with each address of the relay, best first; `nil` for a code.
  package let links: [String]?
  package let fingerprint: String?
  /// The role that the code or link gives, if the relay owns the board.
  package let role: String?
  /// The time when the code or link expires, in RFC 3339 format; `nil` if it does not expire.
  package let expires: String?

  init(_ invited: SharedBoard.News.Invited, board: String) {
    self.board = board
    code = invited.code
    link = invited.link
    links = invited.links
    fingerprint = invited.fingerprint
    role = invited.role
    expires = invited.expires
  }
}

/// A relay of the cluster.
package struct ClusterRelayReport: Codable, Equatable, Sendable {
  package enum State: String, Codable, Sendable {
    /// This relay, which is connected to the cluster.
    case connected
    /// This relay, which is not connected to the cluster at the moment.
    case disconnected
    /// Another relay, which was heard in the last 15 seconds.
    case online
    /// Another relay, which was not heard in the last 15 seconds.
    case silent
    /// Another relay, which is shutting down or has stopped.
    case leaving
  }

  package let peer: String
  package let name: UntrustedText
  package let addresses: [String]
  package let boards: Int
  package let people: Int
  package let state: State
  /// The reason why this relay is not connected.
  package let problem: String?
}

/// A board that this relay serves, with the other relays of the cluster that serve it.
package struct ClusterBoardReport: Codable, Equatable, Sendable {
  package let board: String
  package let name: UntrustedText
  /// The name of the relay or peer that hosts the board; its id if the name is not known.
  package let host: UntrustedText
  /// The names of the other relays that are connected to this board now, except its host.
  package let relays: [UntrustedText]
  /// The other relays of the cluster that are not connected to this board now.
  package let missing: [Missing]

  package struct Missing: Codable, Equatable, Sendable {
    package let relay: UntrustedText
    /// The reason why the relay refused the board, or why this relay could not reach the other relay.
    package let reason: UntrustedText
  }
}

package enum ControlLine: Sendable {
  case status(RelayReport)
  case board(BoardReport)
  case person(PersonReport)
  case invitation(InvitationReport)
  case clusterRelay(ClusterRelayReport)
  case clusterBoard(ClusterBoardReport)
  /// The request was executed; this is the last line.
  case done
  /// The request failed, with the reason; this is the last line.
  case error(code: Int32, message: String)

  private struct Failure: Codable {
    let code: Int32
    let message: String
  }
  private struct Nothing: Encodable {}
  private struct Kind: Decodable { let event: String }

  package var json: [UInt8] {
    switch self {
    case .status(let report): EventLine.json("status", report)
    case .board(let report): EventLine.json("board", report)
    case .person(let report): EventLine.json("person", report)
    case .invitation(let report): EventLine.json("invitation", report)
    case .clusterRelay(let report): EventLine.json("cluster-relay", report)
    case .clusterBoard(let report): EventLine.json("cluster-board", report)
    case .done: EventLine.json("done", Nothing())
    case .error(let code, let message): EventLine.json("error", Failure(code: code, message: message))
    }
  }

  /// Returns `nil` for an unknown kind of line from a later version. Throws if the line is malformed.
  package init?(line: [UInt8]) throws {
    let decoder = JSONDecoder()
    let data = Data(line)
    switch try decoder.decode(Kind.self, from: data).event {
    case "status": self = .status(try decoder.decode(RelayReport.self, from: data))
    case "board": self = .board(try decoder.decode(BoardReport.self, from: data))
    case "person": self = .person(try decoder.decode(PersonReport.self, from: data))
    case "invitation": self = .invitation(try decoder.decode(InvitationReport.self, from: data))
    case "cluster-relay": self = .clusterRelay(try decoder.decode(ClusterRelayReport.self, from: data))
    case "cluster-board": self = .clusterBoard(try decoder.decode(ClusterBoardReport.self, from: data))
    case "done": self = .done
    case "error":
      let failure = try decoder.decode(Failure.self, from: data)
      self = .error(code: failure.code, message: failure.message)
    default: return nil
    }
  }
}
