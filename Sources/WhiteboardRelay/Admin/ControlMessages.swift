import FoundationEssentials
import WhiteboardNode

/// A request to a running relay: one line of JSON over its control socket.
package struct ControlRequest: Codable, Equatable, Sendable {
  /// The commands.
  package enum Command: String, Codable, CaseIterable, Sendable {
    /// Tell how the relay is.
    case status
    /// Tell of every board.
    case boards
    /// Make a board.
    case create
    /// Keep a board however long nobody visits it.
    case pin
    /// Keep it no longer than others.
    case unpin
    /// Serve a board no more and remove it.
    case delete
    /// Tell who is on which board.
    case peers
    /// Make a further code for a board.
    case invite
    /// Say what somebody may do on a board that the relay owns.
    case role
    /// Remove somebody from a board of the relay's own.
    case kick
    /// Drop history from one board or all.
    case compact
    /// End in good order.
    case drain
  }

  /// The command.
  package var command: Command
  /// Which board, by its name, its id or the beginning of that.
  package var board: String?
  /// The name of a new board.
  package var name: String?
  /// The admission policy of a new board.
  package var admit: String?
  /// The words that let people in to a new board.
  package var code: String?
  /// Whether the relay says who writes on a new board.
  package var owned: Bool?
  /// How many days of history stay.
  package var days: Int?
  /// The role and the lifetime of an additional code.
  package var terms: InvitationTerms?
  /// Whom, by name, id or the beginning of that.
  package var peer: String?
  /// The new role of the peer: `editor` or `viewer`.
  package var role: String?
  /// The message to the peer.
  package var reason: String?
  /// Whether `kick` also removes the members that the peer admitted.
  package var withAdmitted: Bool?
  /// Whether `kick` keeps the code of the board.
  package var keepCode: Bool?

  /// Makes a request.
  package init(_ command: Command, board: String? = nil) {
    self.command = command
    self.board = board
  }

  /// Reads a request.
  ///
  /// - Throws: ``NodeError`` if it is none.
  init(line: [UInt8]) throws(NodeError) {
    do {
      self = try JSONDecoder().decode(ControlRequest.self, from: Data(line))
    } catch {
      throw NodeError(
        .usage,
        "a request is one JSON object with a command: "
          + Command.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
  }
}

/// How a relay is.
package struct RelayReport: Codable, Equatable, Sendable {
  /// The name of the relay.
  package let name: String
  /// Its peer id.
  package let peer: String
  /// The relay's addresses with the port, best first.
  package let addresses: [String]
  /// How many boards it has.
  package let boards: Int
  /// How many of them cannot be served.
  package let failed: Int
  /// How many are not all on the disk.
  package let unsaved: Int
  /// How many people are on them.
  package let people: Int
  /// For how many seconds it has been running.
  package let uptime: Int
}

/// A peer on a board.
package struct PersonReport: Codable, Equatable, Sendable {
  /// The board's id.
  package let board: String
  /// The board's name.
  package let boardName: String
  /// The peer id.
  package let peer: String
  /// The display name of the peer.
  package let name: String
}

/// A further code by which people join a board.
package struct InvitationReport: Codable, Equatable, Sendable {
  /// The board's id.
  package let board: String
  /// The code.
  package let code: String
  /// The link with it.
  package let link: String
  /// The role that the code gives, if the relay owns the board.
  package let role: String?
  /// When it is a wrong code, RFC 3339.
  package let expires: String?
}

/// One line of a relay's answer.
package enum ControlLine: Sendable {
  /// How the relay is.
  case status(RelayReport)
  /// A board.
  case board(BoardReport)
  /// A peer on a board.
  case person(PersonReport)
  /// A further code.
  case invitation(InvitationReport)
  /// It was done; the last line.
  case done
  /// It was not done, and why; the last line.
  case error(code: Int32, message: String)

  private struct Failure: Codable {
    let code: Int32
    let message: String
  }
  private struct Nothing: Encodable {}
  private struct Kind: Decodable { let event: String }

  /// The line, ended by a line feed.
  package var json: [UInt8] {
    switch self {
    case .status(let report): EventLine.json("status", report)
    case .board(let report): EventLine.json("board", report)
    case .person(let report): EventLine.json("person", report)
    case .invitation(let report): EventLine.json("invitation", report)
    case .done: EventLine.json("done", Nothing())
    case .error(let code, let message):
      EventLine.json("error", Failure(code: code, message: message))
    }
  }

  /// Reads a line; nil for one of a kind that a later version may write.
  ///
  /// - Throws: `DecodingError` if it is not of its form.
  package init?(line: [UInt8]) throws {
    let decoder = JSONDecoder()
    let data = Data(line)
    switch try decoder.decode(Kind.self, from: data).event {
    case "status": self = .status(try decoder.decode(RelayReport.self, from: data))
    case "board": self = .board(try decoder.decode(BoardReport.self, from: data))
    case "person": self = .person(try decoder.decode(PersonReport.self, from: data))
    case "invitation": self = .invitation(try decoder.decode(InvitationReport.self, from: data))
    case "done": self = .done
    case "error":
      let failure = try decoder.decode(Failure.self, from: data)
      self = .error(code: failure.code, message: failure.message)
    default: return nil
    }
  }
}
