import PeerCore

/// A link by which other programs join a board: `whiteboard://HOST:PORT/BOARD?peer=PEER&pass=PASS#CODE`.
///
/// The ``description`` omits the pass and the code, to keep them out of logs. ``text`` is the whole link, for output
/// that only the user sees.
public struct BoardLink: Equatable, Sendable, CustomStringConvertible {
  /// The address to connect to.
  public var address: HostPort
  /// The id of the board, 26 characters of base32.
  public var board: String
  /// The id of the peer at the address, 52 characters of base32; nil if it is unknown.
  ///
  /// Without this id, only a code or verification words can prove the identity of the peer.
  public var peer: String?
  /// The pass, 26 characters of base32; nil if there is none. A peer with the pass can ask the host's user for
  /// admission (HEL-9).
  public var pass: String?
  /// The words of the join code; empty if the link has no code.
  public var code: [String]

  /// The scheme of links.
  public static let scheme = "whiteboard"
  /// The maximum length of a link, in bytes.
  public static let maximumLength = 1_024

  /// Creates a link from valid parts, without checking them.
  ///
  /// - Parameters:
  ///   - address: The address to connect to.
  ///   - board: The id of the board.
  ///   - peer: The id of the peer at the address, if it is known.
  ///   - pass: The pass, if the host has one.
  ///   - code: The words of the join code; empty if the link has no code.
  public init(address: HostPort, board: String, peer: String?, pass: String? = nil, code: [String] = []) {
    self.address = address
    self.board = board
    self.peer = peer
    self.pass = pass
    self.code = code
  }

  /// Parses a link.
  ///
  /// - Parameter text: The link.
  /// - Throws: ``LinkError`` with the problem; its description never contains the code.
  public init(_ text: some StringProtocol) throws(LinkError) {
    guard text.utf8.count <= BoardLink.maximumLength else { throw .tooLong }
    guard let scheme = BoardLink.afterScheme(text) else { throw .notALink }
    let (beforeFragment, fragment) = BoardLink.cut(String(scheme), at: "#")
    let (beforeQuery, query) = BoardLink.cut(beforeFragment, at: "?")
    let (authority, path) = BoardLink.cut(beforeQuery, at: "/")
    guard let address = HostPort(authority, isInLink: true) else { throw .badAddress }
    let board = String(path ?? "").lowercased()
    guard BoardLink.isBase32(board, count: 26) else { throw .badBoard }
    var peer: String?
    var pass: String?
    for pair in (query ?? "").split(separator: "&") {
      let (key, value) = BoardLink.cut(String(pair), at: "=")
      let id = String(value ?? "").lowercased()
      switch key {
      case "peer":
        guard peer == nil, BoardLink.isBase32(id, count: 52) else { throw .badPeer }
        peer = id
      case "pass":
        guard pass == nil, BoardLink.isBase32(id, count: 26) else { throw .badPass }
        pass = id
      default: continue
      }
    }
    var words: [String] = []
    if let fragment, !fragment.isEmpty {
      words = fragment.lowercased().split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard words.count <= 8, words.allSatisfy(BoardLink.isCodeWord) else { throw .badCode }
    }
    self.init(address: address, board: board, peer: peer, pass: pass, code: words)
  }

  /// The whole link, with its pass and its code. Do not log this text.
  public var text: String {
    let query = pass.map { "\(peer == nil ? "?" : "&")pass=\($0)" } ?? ""
    let fragment = code.isEmpty ? "" : "#\(code.joined(separator: "-"))"
    return description + query + fragment
  }

  /// The link without its pass and its code.
  public var description: String {
    let query = peer.map { "?peer=\($0)" } ?? ""
    return "\(BoardLink.scheme)://\(address.textInLink)/\(board)\(query)"
  }

  /// Checks the scheme of a string.
  ///
  /// - Parameter text: The string.
  /// - Returns: Whether the string begins with the scheme of links, even if the link is not valid.
  public static func looksLikeLink(_ text: some StringProtocol) -> Bool { afterScheme(text) != nil }

  private static func afterScheme<Text: StringProtocol>(_ text: Text) -> Text.SubSequence? {
    let prefix = "\(scheme)://"
    guard text.utf8.count >= prefix.utf8.count, text.prefix(prefix.count).lowercased() == prefix else { return nil }
    return text.dropFirst(prefix.count)
  }

  private static func cut(_ text: String, at mark: Character) -> (String, String?) {
    guard let index = text.firstIndex(of: mark) else { return (text, nil) }
    return (String(text[..<index]), String(text[text.index(after: index)...]))
  }

  static func isBase32(_ text: String, count: Int) -> Bool {
    text.utf8.count == count && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
  }

  private static func isCodeWord(_ word: String) -> Bool {
    (1...16).contains(word.utf8.count) && word.utf8.allSatisfy { (0x61...0x7A).contains($0) }
  }
}

/// The reason why a string is not a valid link or address.
public enum LinkError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The string does not begin with the scheme.
  case notALink
  /// The link has more than ``BoardLink/maximumLength`` bytes.
  case tooLong
  /// The address is not a host and a port.
  case badAddress
  /// The board id is not valid.
  case badBoard
  /// The peer id is not valid, or the link contains two peer ids.
  case badPeer
  /// The pass is not 26 characters of base32, or the link contains two passes.
  case badPass
  /// The code does not consist of words.
  case badCode
  /// The string looks like `HOST:PORT`, but its port is not valid.
  case badPort
  /// The string is empty, or nothing of it is visible.
  case noName

  /// The problem, in words that do not contain the link.
  public var description: String {
    switch self {
    case .notALink: "a link starts with whiteboard://"
    case .tooLong: "the link is longer than \(BoardLink.maximumLength) bytes"
    case .badAddress: "the link's address is not HOST:PORT (IPv6 in brackets, its scope after %25)"
    case .badBoard: "the link's board id must have 26 letters and digits"
    case .badPeer: "the link's peer id must have 52 letters and digits"
    case .badPass: "the link's pass must have 26 letters and digits"
    case .badCode: "the link's code must be words joined by -"
    case .noName: "give the name, link or address of the board; without it, the only board nearby is joined"
    case .badPort: "HOST:PORT needs a port from 1 to 65535, and an IPv6 address must be in brackets"
    }
  }
}

/// A host and a port to connect to.
public struct HostPort: Equatable, Hashable, Sendable, CustomStringConvertible {
  /// A host name, or an IP address without brackets; an IPv6 scope follows `%`.
  public let host: String
  /// The port.
  public let port: Int

  /// The preferred port of boards ("BOARD" on a keypad).
  public static let defaultPort = 26_273

  /// Creates an address; returns nil if the host is malformed or the port is out of range.
  ///
  /// - Parameters:
  ///   - host: A host name, or an IP address without brackets.
  ///   - port: The port, from 1 to 65535.
  public init?(host: String, port: Int) {
    guard (1...65_535).contains(port), HostPort.isHost(host) else { return nil }
    self.host = host
    self.port = port
  }

  /// Parses `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
  ///
  /// Outside of links, an IPv6 address without brackets is valid, too.
  ///
  /// - Parameters:
  ///   - text: The string to parse. If the string has no port, ``defaultPort`` is used. If the string is malformed, the
  ///     result is nil.
  ///   - isInLink: Whether the string is part of a link, in which the scope of an IPv6 address follows `%25` instead of
  ///     `%`.
  public init?(_ text: some StringProtocol, isInLink: Bool = false) {
    guard text.utf8.count <= 320 else { return nil }
    let host: String
    let rest: Substring
    let text = String(text)
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      var inside = String(text[text.index(after: text.startIndex)..<end])
      if isInLink, let percent = inside.firstIndex(of: "%") {
        let scope = inside[percent...]
        guard scope.hasPrefix("%25") else { return nil }
        inside = inside[..<percent] + "%" + scope.dropFirst(3)
      }
      guard inside.contains(":") else { return nil }
      host = inside
      rest = text[text.index(after: end)...]
    } else if !isInLink, text.utf8.count(where: { $0 == 0x3A }) > 1 {
      host = text
      rest = ""
    } else {
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      host = String(text[..<colon])
      rest = text[colon...]
      guard !host.contains("%") else { return nil }
    }
    guard !rest.isEmpty else {
      self.init(host: host, port: HostPort.defaultPort)
      return
    }
    let digits = rest.dropFirst()
    guard rest.first == ":", (1...5).contains(digits.utf8.count),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits)
    else { return nil }
    self.init(host: host, port: port)
  }

  package static func isLoopback(_ host: String) -> Bool {
    host.hasPrefix("127.") || host == "::1" || host == "localhost"
  }

  /// Whether only programs on the same computer can connect to the address.
  public var isLoopback: Bool { HostPort.isLoopback(host) }

  /// The host and the port, separated by a colon; an IPv6 address is in brackets.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// The address as written in a link, where an IPv6 scope follows `%25`.
  fileprivate var textInLink: String {
    guard let percent = host.firstIndex(of: "%") else { return description }
    return "[\(host[..<percent])%25\(host[percent...].dropFirst())]:\(port)"
  }

  private static func isHost(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    if text.contains(":") {
      let (address, scope) =
        if let percent = text.firstIndex(of: "%") { (text[..<percent], text[percent...].dropFirst()) } else {
          (text[...], Substring("-"))
        }
      return (2...45).contains(address.utf8.count) && (1...32).contains(scope.utf8.count)
        && address.utf8.allSatisfy {
          (0x30...0x3A).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0) || $0 == 0x2E
        } && scope.utf8.allSatisfy(isNameByte)
    }
    return text.utf8.allSatisfy(isNameByte)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
      || byte == 0x2E || byte == 0x5F
  }
}

/// The ways in which a user can name the board to join.
public enum JoinTarget: Equatable, Sendable {
  /// The only board nearby.
  case nearby
  /// A board nearby, by its name, by its host's display name, or by an id prefix of the board or of a peer.
  case name(String)
  /// A link.
  case link(BoardLink)
  /// The peer at an address, whichever board it has.
  case address(HostPort)

  /// Parses the argument of a command that joins a board.
  ///
  /// A link may have blanks, quotes, brackets or invisible characters around it, and the command `whiteboard-peer join`
  /// before it. A string that has a port or is an IP address is treated as an address. To join a board whose name looks
  /// like an address, use its id prefix.
  ///
  /// - Parameter text: The argument; nil for ``nearby``.
  /// - Throws: ``LinkError`` if the text is empty or blank, a malformed link, a link with a different scheme, or an
  ///   address with an invalid port.
  public init(_ text: String?) throws(LinkError) {
    guard let text else {
      self = .nearby
      return
    }
    guard !UntrustedText(text).displayed.isEmpty else { throw .noName }
    let link = JoinTarget.withoutWrapping(text)
    if BoardLink.looksLikeLink(link) {
      self = .link(try BoardLink(link))
      return
    }
    if text.hasPrefix("[") || text.contains(":") || JoinTarget.isAddress(text), let address = HostPort(text) {
      self = .address(address)
      return
    }
    guard !JoinTarget.hasScheme(text) else { throw .notALink }
    guard !JoinTarget.hasBadPort(text) else { throw .badPort }
    self = .name(text)
  }

  private static func withoutWrapping(_ text: String) -> String {
    let words = trimmed(InvisibleText.removed(from: text))
    let command = "whiteboard-peer join "
    return words.hasPrefix(command) ? trimmed(String(words.dropFirst(command.count))) : words
  }

  private static func trimmed(_ text: String) -> String {
    let wraps = { (scalar: Unicode.Scalar) in
      switch scalar.properties.generalCategory {
      case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation: true
      default: scalar.properties.isWhitespace || "<>'\"`.,;!?".unicodeScalars.contains(scalar)
      }
    }
    var scalars = text.unicodeScalars.drop(while: wraps)
    while scalars.last.map(wraps) == true { scalars.removeLast() }
    return String(scalars)
  }

  private static func hasScheme(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, text[colon...].hasPrefix("://") else {
      return false
    }
    return text[..<colon].utf8.allSatisfy {
      (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x2B...0x39).contains($0)
    }
  }

  private static func hasBadPort(_ text: String) -> Bool {
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return text[..<end].contains(":") }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, HostPort(host: String(parts[0]), port: HostPort.defaultPort) != nil else { return false }
    return isAddress(String(parts[0])) || !parts[1].isEmpty && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  private static func isAddress(_ text: String) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}
