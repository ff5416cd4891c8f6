import ArgumentParser
import AvahiDiscovery
import FoundationEssentials
import Logging
import PeerSession
import WhiteboardDocument
import WhiteboardNode

/// The settings that commands share: flag, then environment, then default.
struct CommonOptions: ParsableArguments {
  @Option(
    name: .customLong("data-dir"),
    help: ArgumentHelp(
      "Where keys, boards and files lie. [WHITEBOARD_DATA_DIR]",
      valueName: "DIR"
    )
  )
  var dataDirectory: String?

  @Option(
    help: ArgumentHelp(
      "Use only this network interface. [WHITEBOARD_INTERFACE]",
      valueName: "IF"
    )
  )
  var interface: String?

  @Flag(help: "Write one JSON object a line. (Lines of JSON are always read.)")
  var json = false

  @Option(
    name: .customLong("log-level"),
    help: ArgumentHelp(
      "trace, debug, info, notice, warning, error or critical; else warning. "
        + "[WHITEBOARD_LOG_LEVEL]",
      valueName: "LEVEL"
    )
  )
  var logLevel: String?

  /// The interface to use.
  var chosenInterface: String? { interface ?? Environment["WHITEBOARD_INTERFACE"] }

  /// Where files lie.
  func chosenDataDirectory() throws(NodeError) -> String {
    if let given = dataDirectory ?? Environment["WHITEBOARD_DATA_DIR"] {
      return given.hasPrefix("/") ? given : FileManager.default.currentDirectoryPath + "/" + given
    }
    // Relative values of XDG variables are invalid and ignored, as its specification says.
    if let data = Environment["XDG_DATA_HOME"], data.hasPrefix("/") {
      return data + "/whiteboard"
    }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw NodeError(.badConfiguration, "HOME is not set; say where files go with --data-dir")
    }
    return home + "/.local/share/whiteboard"
  }

  /// A logger that writes to standard error.
  func logger() throws(NodeError) -> Logger {
    let name = logLevel ?? Environment["WHITEBOARD_LOG_LEVEL"] ?? "warning"
    guard let level = Logger.Level(rawValue: name) else {
      throw NodeError(
        .usage,
        "--log-level is one of "
          + Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
    var logger = Logger(label: "whiteboard-peer") {
      StreamLogHandler.standardError(label: $0)
    }
    logger.logLevel = level
    return logger
  }
}

/// The settings of the commands that share a board.
struct BoardOptions: ParsableArguments {
  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The name to go by; else that of the last `profile`, or USER. [WHITEBOARD_NAME]",
      valueName: "NAME"
    )
  )
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Where to listen; port 0 is any free one; else every address on 26273 or the next free "
        + "port. [WHITEBOARD_LISTEN]",
      valueName: "ADDR:PORT"
    )
  )
  var listen: String?

  @Flag(
    name: .customLong("no-announce"),
    help: "Do not let the board be found nearby by way of us."
  )
  var noAnnounce = false

  @Option(
    help: ArgumentHelp(
      "Who is let in by us: ask, code, known or anyone; else a host asks on a terminal and wants "
        + "the code elsewhere, and who joined wants the code that let him in, "
        + "or lets in those known. [WHITEBOARD_ADMIT]",
      valueName: "HOW"
    )
  )
  var admit: String?

  @Option(
    help: ArgumentHelp(
      "The four words that let one in; else a host keeps the board's last or makes new ones. "
        + "[WHITEBOARD_CODE]",
      valueName: "WORDS"
    )
  )
  var code: String?

  @Flag(help: "Be nobody we were before: a key for this run only, and no board is kept.")
  var ephemeral = false

  @Flag(
    name: .customLong("accessible"),
    help: "Lines instead of a drawn screen, as for screen readers. [ACCESSIBLE]"
  )
  var isAccessible = false

  @Option(
    name: .customLong("lost-after"),
    help: ArgumentHelp(
      "How long a silent peer is waited for: 60, at least 7. [WHITEBOARD_LOST_AFTER]",
      valueName: "SECONDS"
    )
  )
  var lostAfter: Double?

  @OptionGroup var common: CommonOptions

  /// What a node is made from, as these settings say.
  ///
  /// - Parameters:
  ///   - part: What the node does first.
  ///   - isInteractive: Whether a person is there to be asked.
  /// - Returns: The configuration.
  /// - Throws: ``NodeError`` for what cannot be used, with what would do.
  func configuration(
    _ part: NodeConfiguration.Part,
    isInteractive: Bool
  ) async throws(NodeError) -> NodeConfiguration {
    let directory = try common.chosenDataDirectory()
    let identity: PeerIdentity
    var store: PeerStore?
    if ephemeral {
      identity = .ephemeral()
    } else {
      do {
        identity = try PeerIdentity.loadOrCreate(inDirectory: directory)
        store = try PeerStore(file: directory + "/peers.json")
      } catch {
        throw NodeError(error, inDataDirectory: directory)
      }
    }
    let settings = ephemeral ? nil : PersonalSettings(path: directory + "/settings.json")
    var configuration = NodeConfiguration(
      part: part,
      displayName: try await chosenName(settings),
      identity: identity,
      dataDirectory: directory,
      logger: try common.logger()
    )
    configuration.peerStore = store
    configuration.personalSettings = settings
    configuration.remembersBoards = !ephemeral
    configuration.listen = try chosenListen()
    configuration.interface = common.chosenInterface
    configuration.isAnnounced = !noAnnounce
    configuration.code = try chosenCode()
    configuration.admission = try chosenAdmission(part, isInteractive: isInteractive)
    configuration.lostAfter = try chosenPatience()
    configuration.pages = pageWriter
    configuration.discovery = AvahiDiscovery(interface: common.chosenInterface)
    return configuration
  }

  private func chosenName(_ settings: PersonalSettings?) async throws(NodeError) -> String {
    if let name = name ?? Environment["WHITEBOARD_NAME"] { return name }
    do throws(DocumentError) {
      if let name = try await settings?.name { return name }
    } catch {
      throw NodeError(error)
    }
    return Environment["USER"] ?? "somebody"
  }

  private func chosenListen() throws(NodeError) -> PeerAddress? {
    guard let text = listen ?? Environment["WHITEBOARD_LISTEN"] else { return nil }
    if text.hasSuffix(":0"), let address = PeerAddress(text.dropLast() + "1") {
      return PeerAddress(host: address.host, port: 0)
    }
    guard let address = PeerAddress(text) else {
      throw NodeError(.usage, "--listen is ADDR:PORT, like 0.0.0.0:26273 or [::]:0")
    }
    return address
  }

  private func chosenCode() throws(NodeError) -> JoinCode? {
    guard let words = code ?? Environment["WHITEBOARD_CODE"] else { return nil }
    do throws(JoinCodeError) {
      return try JoinCode(words: words)
    } catch {
      throw NodeError(.usage, "--code: \(error)")
    }
  }

  private func chosenAdmission(
    _ part: NodeConfiguration.Part,
    isInteractive: Bool
  ) throws(NodeError) -> NodeConfiguration.Admission? {
    if let name = admit ?? Environment["WHITEBOARD_ADMIT"] {
      guard let admission = NodeConfiguration.Admission(rawValue: name) else {
        throw NodeError(.usage, "--admit is one of ask, code, known, anyone")
      }
      return admission
    }
    guard case .host = part else { return nil }
    return isInteractive && code == nil ? .ask : .code
  }

  private func chosenPatience() throws(NodeError) -> Duration {
    let given = lostAfter ?? Environment["WHITEBOARD_LOST_AFTER"].map { Double($0) ?? .nan }
    guard let seconds = given else { return .seconds(60) }
    guard (7...86_400).contains(seconds) else {
      throw NodeError(.usage, "--lost-after is a time from 7 to 86400 seconds")
    }
    return .seconds(seconds)
  }
}

extension NodeError {
  /// Why what lies in the data directory cannot be used, or why it cannot be made.
  init(_ error: any Error, inDataDirectory directory: String) {
    if let error = error as? NodeError {
      self = error
      return
    }
    let files = FileManager.default
    var isMissing = !files.fileExists(atPath: directory)
    if case IdentityError.system? = error as? IdentityError {
      isMissing = isMissing || !files.fileExists(atPath: directory + "/identity.pem")
    }
    self.init(isMissing ? .cannotCreate : .badConfiguration, "\(error)")
  }
}

/// The environment of the process.
enum Environment {
  /// The value of a variable, nil where it is not set or empty.
  static subscript(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}
