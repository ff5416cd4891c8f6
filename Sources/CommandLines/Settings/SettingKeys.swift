import Logging
import PeerSession
import Whiteboard
import WhiteboardNode

extension SettingKey<String> {
  /// Where keys, boards and files lie.
  package static let dataDirectory = SettingKey(
    "data-dir",
    "Where keys, boards and files lie",
    allowed: "a directory; in the file, from / or ~/ on",
    standard: .words("$XDG_DATA_HOME/whiteboard or ~/.local/share/whiteboard"),
    parse: nonempty
  )
  /// The only interface to use.
  package static let interface = SettingKey(
    "interface",
    "Use only this network interface",
    allowed: "the name of a network interface",
    standard: .words("all"),
    parse: nonempty
  )
  /// What we call ourselves.
  package static let personName = SettingKey(
    "name",
    "The name to go by",
    allowed: "a name",
    standard: .words("that of the last `profile`, or USER"),
    flag: "--as",
    parse: name
  )

  /// A name in one line, without control characters.
  ///
  /// - Parameter text: The name as it was given.
  /// - Returns: The name.
  /// - Throws: ``SettingFault`` if nothing is left of it.
  @Sendable package static func name(_ text: String) throws(SettingFault) -> String {
    try nonempty(PlainText.line(text))
  }

  /// Any text but none.
  @Sendable package static func nonempty(_ text: String) throws(SettingFault) -> String {
    guard !text.isEmpty else { throw SettingFault() }
    return text
  }
}

extension SettingKey<PeerAddress> {
  /// Where to listen.
  package static let listen = SettingKey(
    "listen",
    "Where to listen; port 0 is any free one",
    allowed: "ADDR:PORT, like 0.0.0.0:26273 or [::]:0",
    standard: .words("every address on \(HostPort.defaultPort) or the next free port")
  ) { text throws(SettingFault) in try PeerAddress(listening: text) }
}

extension PeerAddress {
  /// Reads where to listen: an address, whose port may also be 0 for any free one.
  package init(listening text: String) throws(SettingFault) {
    let isAnyPort = text.hasSuffix(":0")
    guard let address = PeerAddress(isAnyPort ? text.dropLast() + "1" : text) else {
      throw SettingFault()
    }
    self = address
    if isAnyPort { port = 0 }
  }
}

extension SettingKey<Bool> {
  /// Whether boards may be found nearby by way of us.
  package static let announce = SettingKey(
    "announce",
    "Whether to announce the board on the network",
    standard: true
  )
  /// Whether the files that members send are accepted without asking.
  package static let acceptFiles = SettingKey(
    "accept-files",
    "Accept the files that members send without asking",
    standard: false
  )
  /// Whether lines are wanted on a terminal too.
  package static let accessible = SettingKey(
    "accessible",
    "Lines instead of a drawn screen, as for screen readers",
    standard: false,
    otherwise: .init("ACCESSIBLE", means: "true")
  )
}

extension SettingKey<NodeConfiguration.Admission> {
  /// Who is let in.
  package static let admission = SettingKey(
    "admit",
    "Who is let in by us",
    standard: .words(
      "a host asks on a terminal and wants the code elsewhere, and who joined wants the code that "
        + "let him in, or lets in those known"
    )
  )
}

extension SettingKey<JoinCode> {
  /// The words that let people in.
  package static let code = SettingKey(
    "code",
    "The four words that let one in",
    allowed: "four words like river-maple-candy-frost",
    standard: .words("a host keeps the board's last or makes new ones"),
    isSecret: true
  ) { text throws(SettingFault) in
    do throws(JoinCodeError) {
      return try JoinCode(words: text)
    } catch {
      throw SettingFault("\(error)")
    }
  }
}

extension SettingKey<NodeConfiguration.Carrier?> {
  /// Which relay is to have the boards that we host.
  package static let relay = SettingKey(
    "relay",
    "The relay that keeps the hosted board open",
    allowed: "HOST:PORT, PEER-ID@HOST:PORT, auto for one nearby, or none",
    standard: .value("none")
  ) { text throws(SettingFault) in
    if text == "none" { return nil }
    if text == "auto" { return .nearby }
    let parts = text.split(separator: "@", maxSplits: 1)
    guard let place = parts.last.flatMap({ HostPort($0) }) else {
      throw SettingFault()
    }
    guard parts.count == 2 else { return .at(place, nil) }
    guard let peer = PeerID(text: String(parts[0])) else {
      throw SettingFault("before the @ stands an id of 52 characters, as the relay tells it")
    }
    return .at(place, peer)
  }
}

extension SettingKey<Duration> {
  /// How long a silent peer is waited for.
  package static let lostAfter = SettingKey(
    "lost-after",
    "The seconds after which a silent peer is lost",
    allowed: "a number of seconds from 7 to 86400",
    standard: .value("60")
  ) { text throws(SettingFault) in
    guard let seconds = Double(text), (7...86_400).contains(seconds) else { throw SettingFault() }
    return .seconds(seconds)
  }
}

extension SettingKey<Int> {
  /// The maximum number of peers on a hosted board.
  package static let maximumPeers = SettingKey(
    "max-peers",
    "The maximum number of peers on a board that this peer hosts, including itself",
    allowed: "a number from 2 to 256",
    standard: .value("16")
  ) { text throws(SettingFault) in
    guard let count = Int(text), (2...256).contains(count) else { throw SettingFault() }
    return count
  }
}

extension SettingKey<Logger.Level> {
  /// How much is logged.
  package static let logLevel = SettingKey(
    "log-level",
    "How much is logged",
    standard: .value("warning")
  )
}

extension SettingEntry {
  /// The settings of a node and of the program around it.
  package static let ofNode: [SettingEntry] = [
    SettingKey.personName.entry, SettingKey.dataDirectory.entry, SettingKey.listen.entry,
    SettingKey.interface.entry, SettingKey.announce.entry, SettingKey.admission.entry,
    SettingKey.code.entry, SettingKey.relay.entry, SettingKey.maximumPeers.entry,
    SettingKey.lostAfter.entry, SettingKey.acceptFiles.entry,
    SettingKey.logLevel.entry,
    SettingKey.accessible.entry,
  ]
}
