import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import Logging
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardTerminal
import WhiteboardWeb

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// An option overrides the environment, the environment overrides the file, and the file overrides the default.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file; default: $XDG_CONFIG_HOME/whiteboard/config. [WHITEBOARD_CONFIG]",
      valueName: "FILE"
    ),
    completion: .file()
  ) var config: String?

  @Option(name: .customLong("data-dir"), help: .of(.dataDirectory, "DIR"), completion: .directory) var dataDirectory:
    String?

  @Option(help: .of(.interface, "IF")) var interface: String?

  @Flag(help: "Write one JSON object per line. (Input can be JSON lines even without this option.)") var json = false

  @Option(name: .customLong("log-level"), help: .of(.logLevel, "LEVEL"), completion: .of(.logLevel)) var logLevel:
    String?

  static let entries = SettingEntry.ofBoard + SettingEntry.ofTerminal

  /// Returns the values of the settings. Throws ``WhiteboardError`` for an invalid value. The message states where the
  /// value was set, and which values are allowed.
  func settings(_ flags: [String: String] = [:]) throws(WhiteboardError) -> Settings {
    var flags = flags
    flags[.dataDirectory] = dataDirectory
    flags[.interface] = interface
    flags[.logLevel] = logLevel
    return try Settings(Self.entries, flags: flags, at: SettingsFile.Place(config) { Environment[$0] })
  }

  func chosenDataDirectory() throws(WhiteboardError) -> String { try settings().chosenDataDirectory() }
}

struct TerminalOptions: ParsableArguments {
  @Flag(inversion: .prefixedNo, help: .of(.accessible)) var accessible: Bool?

  @Option(help: .of(.graphics, "HOW"), completion: .of(.graphics)) var graphics: String?

  @Option(help: .of(.pen, "HOW"), completion: .of(.pen)) var pen: String?

  @Option(help: .of(.mouse, "HOW"), completion: .of(.mouse)) var mouse: String?

  @Option(help: .of(.color, "COLORS"), completion: .of(.color)) var color: String?

  @Flag(name: .customLong("no-color"), help: "The same as --color none.") var isColorless = false

  @Flag(inversion: .prefixedNo, help: .of(.motion)) var motion: Bool?

  mutating func validate() throws {
    guard !isColorless || color ?? "none" == "none" else {
      throw ValidationError("--no-color and --color \(color ?? "") cannot be combined.")
    }
  }

  var flags: [String: String] {
    var flags: [String: String] = [:]
    flags[.accessible] = accessible.map { "\($0)" }
    flags[.graphics] = graphics
    flags[.pen] = pen
    flags[.mouse] = mouse
    flags[.color] = isColorless ? TerminalSettings.Color.none.rawValue : color
    flags[.motion] = motion.map { "\($0)" }
    return flags
  }
}

struct BoardOptions: ParsableArguments {
  @Option(name: .customLong("as"), help: .of(.personName, "NAME")) var name: String?

  @Option(help: .of(.listen, "ADDR:PORT")) var listen: String?

  @Flag(inversion: .prefixedNo, help: .of(.announce)) var announce: Bool?

  @Flag(inversion: .prefixedNo, help: .of(.membersAdmit)) var membersAdmit: Bool?

  @Option(help: .of(.admission, "HOW"), completion: .of(.admission)) var admit: String?

  @Option(help: .of(.code, "WORDS")) var code: String?

  @Option(help: .of(.relay, "HOST:PORT|auto")) var relay: String?

  @Option(help: .of(.topology, "HOW"), completion: .of(.topology)) var topology: String?

  @Flag(help: "Use a temporary key for this run, and save nothing.") var ephemeral = false

  @Flag(
    name: .customLong("trust-file"),
    help: "Use the members, the join code and the browser links in a board file from another computer of yours."
  ) var trustsFile = false

  @Option(name: .customLong("max-peers"), help: .of(.maximumPeers, "COUNT")) var maximumPeers: String?

  @Option(name: .customLong("lost-after"), help: .of(.lostAfter, "SECONDS")) var lostAfter: String?

  @Flag(name: .customLong("accept-files"), inversion: .prefixedNo, help: .of(.acceptFiles)) var acceptsFiles: Bool?

  @Option(name: .customLong("files-from"), help: .of(.filesFrom, "WHO"), completion: .of(.filesFrom)) var filesFrom:
    String?

  @Option(name: .customLong("save-files"), help: .of(.saveFiles, "DIR"), completion: .directory) var saveFiles: String?

  @Option(name: .customLong("inbox-quota"), help: .of(.inboxQuota, "SIZE")) var inboxQuota: String?

  @OptionGroup var web: WebOptions

  @OptionGroup(title: "Terminal") var terminal: TerminalOptions

  @OptionGroup var common: CommonOptions

  func settings() throws(WhiteboardError) -> Settings {
    var flags = terminal.flags
    flags[.personName] = name
    flags[.listen] = listen
    flags[.announce] = announce.map { "\($0)" }
    flags[.admission] = admit
    flags[.membersAdmit] = membersAdmit.map { "\($0)" }
    flags[.code] = code
    flags[.relay] = relay
    flags[.topology] = topology
    flags[.maximumPeers] = maximumPeers
    flags[.lostAfter] = lostAfter
    flags[.acceptFiles] = acceptsFiles.map { "\($0)" }
    flags[.filesFrom] = filesFrom
    flags[.saveFiles] = saveFiles
    flags[.inboxQuota] = inboxQuota
    web.add(to: &flags)
    return try common.settings(flags)
  }

  /// Returns the configuration of a shared board with these settings. Throws if the data directory or a file in it
  /// cannot be used.
  func configuration(_ part: BoardConfiguration.Part, isInteractive: Bool, _ settings: Settings)
    async throws(WhiteboardError) -> BoardConfiguration
  {
    let directory = try directory(settings)
    let identity: PeerIdentity
    var store: PeerStore?
    if ephemeral {
      identity = .ephemeral()
    } else {
      do {
        identity = try PeerIdentity.loadOrCreate(forBoardsIn: directory)
        store = try PeerStore(file: directory + "/peers.json")
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }
    let personal = ephemeral ? nil : PersonalSettings(inDataDirectory: directory)
    var configuration = BoardConfiguration(
      part: part,
      displayName: try await Self.chosenName(settings, personal),
      identity: identity,
      dataDirectory: directory,
      logger: settings.logger("whiteboard-peer")
    )
    configuration.peerStore = store
    configuration.personalSettings = personal
    configuration.usesStoredName = settings.value(.personName) == nil
    configuration.remembersBoards = !ephemeral
    configuration.trustsFile = trustsFile
    configuration.listen = settings.value(.listen)
    configuration.interface = settings.value(.interface)
    configuration.isAnnounced = settings.value(.announce) ?? true
    configuration.code = settings.value(.code)
    configuration.carrier = settings.value(.relay) ?? nil
    // Do not ask if there is a relay, because a relay has no user to ask.
    configuration.hostAdmission = isInteractive && code == nil && relay == nil ? .ask : .code
    configuration.admission = settings.value(.admission)
    configuration.membersAdmit = settings.value(.membersAdmit)
    configuration.maximumPeers = settings.value(.maximumPeers)
    configuration.topology = settings.value(.topology)
    configuration.lostAfter = settings.value(.lostAfter) ?? .seconds(60)
    if settings.value(.acceptFiles) == true { configuration.files = .accept }
    configuration.fileSenders = settings.value(.filesFrom) ?? .anyone
    configuration.saveDirectory = try settings.directory(.saveFiles)
    configuration.inboxQuota = settings.value(.inboxQuota)
    configuration.pages = CairoPages()
    configuration.photos = Photos()
    configuration.framePainter = BoardPainter()
    configuration.discovery = AvahiDiscovery(interface: configuration.interface)
    configuration.browserGateway = try gateway(settings)
    configuration.servesBrowsers = settings.value(.web) ?? false
    configuration.guestsInvite = settings.value(.webInvite)
    return configuration
  }

  func gateway(_ settings: Settings) throws(WhiteboardError) -> SharedGateway {
    try SharedGateway(
      directory: directory(settings),
      host: settings.value(.listen)?.host,
      port: settings.value(.webPort),
      certificate: settings.value(.webCertificate),
      key: settings.value(.webKey)
    )
  }

  /// With `--ephemeral`, returns a temporary directory if the usual one cannot be written, for example because the disk
  /// is read-only.
  private func directory(_ settings: Settings) throws(WhiteboardError) -> String {
    guard ephemeral, settings.value(.dataDirectory) == nil else { return try settings.chosenDataDirectory() }
    if let usual = try? settings.chosenDataDirectory(), Self.isWritable(usual) { return usual }
    return try Self.temporaryDirectory.get()
  }

  private static func isWritable(_ directory: String) -> Bool {
    var path = directory
    while !path.isEmpty {
      var status = stat()
      if stat(path, &status) == 0 { return status.st_mode & S_IFMT == S_IFDIR && access(path, W_OK) == 0 }
      path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
    return false
  }

  private static let temporaryDirectory = Result<String, WhiteboardError> { () throws(WhiteboardError) in
    try makeTemporaryDirectory()
  }

  /// Creates an empty directory that only this user can read; the caller removes it.
  static func makeTemporaryDirectory() throws(WhiteboardError) -> String {
    let parent = Environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/whiteboard-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw WhiteboardError(
        .cannotCreate,
        "no temporary directory can be created in \(parent): \(SystemError.words(for: errno))"
      )
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func chosenName(_ settings: Settings, _ personal: PersonalSettings?) async throws(WhiteboardError) -> String {
    if let name = settings.value(.personName) { return name }
    do throws(DocumentError) { if let name = try await personal?.name { return name } } catch {
      throw WhiteboardError(error)
    }
    return Environment.userName
  }

}

/// A converter of pictures, passed to the board because only this program links the libraries for pictures.
struct Photos: PhotoConverter {
  func photo(of bytes: [UInt8], mayCompress: Bool) throws(ConversionError) -> [UInt8] {
    do throws(PictureError) { return try BoardPhoto.file(of: bytes, mayCompress: mayCompress) } catch {
      throw ConversionError(error.description)
    }
  }
}

struct CatchUpOptions: ParsableArguments {
  @Option(
    name: .customLong("sync-timeout"),
    help: ArgumentHelp("How long piped commands wait for the board to arrive.", valueName: "SECONDS")
  ) var timeout = 30.0

  @Flag(help: "Use the copy of the board on this computer, without connecting to other peers.") var offline = false

  mutating func validate() throws {
    guard (0...86_400).contains(timeout) else {
      throw ValidationError("--sync-timeout must be from 0 to 86400 seconds.")
    }
  }

  /// Applies these options to the configuration of a shared board that joins a session. Throws if `--offline` needs a
  /// saved copy, but there is none.
  func apply(to configuration: inout BoardConfiguration, isKept: Bool) async throws(WhiteboardError) {
    configuration.catchUpTimeout = .seconds(timeout)
    guard offline, case .join(let target, _) = configuration.part else { return }
    guard isKept else { throw WhiteboardError(.usage, "--offline needs a saved copy, and --ephemeral saves none") }
    let wanted: String
    switch target {
    case .name(let name): wanted = name
    case .link(let link): wanted = link.board
    case .nearby, .address:
      throw WhiteboardError(.usage, "--offline needs the board's name, the start of its id, or its link")
    }
    let library = BoardLibrary(inDataDirectory: configuration.dataDirectory)
    configuration.boardFile = try await library.file(of: wanted)
    configuration.part = .host(boardName: "")
    configuration.isOffline = true
    configuration.isAnnounced = false
    configuration.discovery = nil
    configuration.carrier = nil
    configuration.admission = .known
    configuration.isListening = false
  }
}
