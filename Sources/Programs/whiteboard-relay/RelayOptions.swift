import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import Logging
import PeerSession
import RelayCluster
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRelay
import WhiteboardWeb

/// The options that locate a relay. A request to a running relay needs no other options.
struct PlaceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file; default: /etc/whiteboard-relay/relay.conf. [WHITEBOARD_CONFIG]",
      valueName: "FILE"
    ),
    completion: .file()
  ) var config: String?

  @Option(name: .customLong("data-dir"), help: .of(.relayDirectory, "DIR"), completion: .directory) var dataDirectory:
    String?

  @Flag(help: "Write one JSON object per line.") var json = false

  func settings(_ flags: [String: String] = [:]) throws(WhiteboardError) -> Settings {
    var flags = flags
    flags[.dataDirectory] = dataDirectory
    return try Settings(SettingEntry.ofRelay, flags: flags, at: place)
  }

  var place: SettingsFile.Place? {
    SettingsFile.Place(config, standard: "/etc/whiteboard-relay/relay.conf", environment: { Environment[$0] })
  }

  /// Returns the lines of the answer without the final `done`. Throws if the relay cannot be reached, or could not
  /// execute the request.
  func ask(_ request: ControlRequest) async throws(WhiteboardError) -> [ControlLine] {
    let directory = try settings().relayDirectory()
    let own = RelayConfiguration.controlPath(
      dataDirectory: directory,
      runtimeDirectory: Environment["RUNTIME_DIRECTORY"]
    )
    // A relay that systemd started listens at the path in its unit, whichever user runs this command.
    let ofService = "/run/whiteboard-relay/control.sock"
    let isOwnThere = FileManager.default.fileExists(atPath: own)
    let isServiceThere = FileManager.default.fileExists(atPath: ofService)
    let isMeant = dataDirectory == nil && isServiceThere && !isOwnThere
    return try await ControlClient.ask(request, at: isMeant ? ofService : own)
  }
}

extension Settings {
  /// Returns the data directory of a relay. Throws if the setting is invalid, or if `HOME` is needed but not set. The
  /// result is the directory from the settings or, if none is set, the directory from systemd. Without systemd, the
  /// result is `relay` in the user's data directory.
  func relayDirectory() throws(WhiteboardError) -> String {
    if value(.dataDirectory) == nil, let state = Environment["STATE_DIRECTORY"] { return state }
    let directory = try chosenDataDirectory()
    return value(.dataDirectory) == nil ? directory + "/relay" : directory
  }
}

struct ServeOptions: ParsableArguments {
  @Option(help: .of(.relayName, "NAME")) var name: String?

  @Option(help: .of(.listen, "ADDR:PORT")) var listen: String?

  @Option(help: .of(.interface, "IF")) var interface: String?

  @Flag(inversion: .prefixedNo, help: .of(.announce)) var announce: Bool?

  @Option(help: .of(.http, "ADDR:PORT|none")) var http: String?

  @Option(help: .of(.boards, "WHOSE"), completion: .of(.boards)) var boards: String?

  @Option(help: .of(.allow, "ID,ID")) var allow: String?

  @Option(name: .customLong("max-boards"), help: .of(.maximumBoards, "N")) var maximumBoards: String?

  @Option(name: .customLong("max-boards-per-host"), help: .of(.maximumBoardsPerHost, "N")) var maximumBoardsPerHost:
    String?

  @Option(name: .customLong("max-boards-per-address"), help: .of(.maximumBoardsPerAddress, "N"))
  var maximumBoardsPerAddress: String?

  @Option(name: .customLong("reserved-boards"), help: .of(.reservedBoards, "N")) var reservedBoards: String?

  @Option(name: .customLong("max-people"), help: .of(.maximumPeople, "N")) var maximumPeople: String?

  @Option(help: .of(.relayTopology, "HOW"), completion: .of(.relayTopology)) var topology: String?

  @Option(name: .customLong("max-board-mb"), help: .of(.maximumBoardMegabytes, "N")) var maximumBoardMegabytes: String?

  @Option(name: .customLong("max-copies"), help: .of(.maximumCopies, "N")) var maximumCopies: String?

  @Option(name: .customLong("max-copied-mb"), help: .of(.maximumCopiedMegabytes, "N")) var maximumCopiedMegabytes:
    String?

  @Option(name: .customLong("max-waiting-mb"), help: .of(.maximumWaitingMegabytes, "N")) var maximumWaitingMegabytes:
    String?

  @Option(help: .of(.retain, "DAYS")) var retain: String?

  @Option(name: .customLong("lost-after"), help: .of(.lostAfter, "SECONDS")) var lostAfter: String?

  @OptionGroup var web: WebOptions

  @Option(help: .of(.cluster, "URL,URL")) var cluster: String?

  @Option(name: .customLong("cluster-credentials"), help: .of(.clusterCredentials, "FILE"), completion: .file())
  var clusterCredentials: String?

  @Option(name: .customLong("cluster-ca"), help: .of(.clusterAuthorities, "FILE"), completion: .file())
  var clusterAuthorities: String?

  @Option(name: .customLong("cluster-certificate"), help: .of(.clusterCertificate, "FILE"), completion: .file())
  var clusterCertificate: String?

  @Option(name: .customLong("cluster-key"), help: .of(.clusterKey, "FILE"), completion: .file()) var clusterKey: String?

  @Option(name: .customLong("log-level"), help: .of(.relayLogLevel, "LEVEL"), completion: .of(.relayLogLevel))
  var logLevel: String?

  @Option(name: .customLong("log-format"), help: .of(.logFormat, "HOW"), completion: .of(.logFormat)) var logFormat:
    String?

  @OptionGroup var place: PlaceOptions

  func settings() throws(WhiteboardError) -> Settings {
    var flags: [String: String] = [:]
    flags[.relayName] = name
    flags[.listen] = listen
    flags[.interface] = interface
    flags[.announce] = announce.map { "\($0)" }
    flags[.http] = http
    flags[.boards] = boards
    flags[.allow] = allow
    flags[.maximumBoards] = maximumBoards
    flags[.maximumBoardsPerHost] = maximumBoardsPerHost
    flags[.maximumBoardsPerAddress] = maximumBoardsPerAddress
    flags[.reservedBoards] = reservedBoards
    flags[.maximumPeople] = maximumPeople
    flags[.relayTopology] = topology
    flags[.maximumBoardMegabytes] = maximumBoardMegabytes
    flags[.maximumCopies] = maximumCopies
    flags[.maximumCopiedMegabytes] = maximumCopiedMegabytes
    flags[.maximumWaitingMegabytes] = maximumWaitingMegabytes
    flags[.retain] = retain
    flags[.lostAfter] = lostAfter
    web.add(to: &flags)
    flags[.cluster] = cluster
    flags[.clusterCredentials] = clusterCredentials
    flags[.clusterAuthorities] = clusterAuthorities
    flags[.clusterCertificate] = clusterCertificate
    flags[.clusterKey] = clusterKey
    flags[.relayLogLevel] = logLevel
    flags[.logFormat] = logFormat
    return try place.settings(flags)
  }

  /// Returns the configuration of a relay with these settings. Throws if the data directory or a file in it cannot be
  /// used, or if two settings contradict each other.
  func configuration(_ settings: Settings) throws(WhiteboardError) -> RelayConfiguration {
    let directory = try settings.relayDirectory()
    let identity: PeerIdentity
    let store: PeerStore
    do {
      identity = try PeerIdentity.loadOrCreate(forBoardsIn: directory)
      store = try PeerStore(file: directory + "/peers.json")
    } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    var configuration = RelayConfiguration(
      name: settings.value(.relayName) ?? ProcessInfo.processInfo.hostName,
      identity: identity,
      peerStore: store,
      dataDirectory: directory,
      logger: Logger(label: "whiteboard-relay")
    )
    configuration.logger.logLevel = settings.value(.relayLogLevel) ?? .notice
    configuration.listen = settings.value(.listen)
    configuration.interface = settings.value(.interface)
    if settings.value(.announce) ?? true {
      configuration.discovery = AvahiDiscovery(interface: configuration.interface)
    }
    configuration.topology = settings.value(.relayTopology)
    configuration.lostAfter = settings.value(.lostAfter) ?? .seconds(60)
    configuration.limits = try RelayConfiguration.Limits(settings)
    configuration.passing = RelayLimits(settings)
    if settings.value(.web) ?? false {
      configuration.browserGateway = try SharedGateway(
        directory: directory,
        host: configuration.listen?.host,
        port: settings.value(.webPort),
        certificate: settings.value(.webCertificate),
        key: settings.value(.webKey)
      )
    }
    configuration.guestsInvite = settings.value(.webInvite)
    if let cluster = try ClusterSettings(settings, name: configuration.name) {
      configuration.cluster = { () async throws(ClusterError) in try await cluster.connect() }
    }
    return configuration
  }
}

extension RelayLimits {
  init(_ settings: Settings) {
    self.init()
    rate.copies = settings.value(.maximumCopies) ?? rate.copies
    rate.bytes = settings.value(.maximumCopiedMegabytes).map { $0 << 20 } ?? rate.bytes
    queuedBytes = settings.value(.maximumWaitingMegabytes).map { $0 << 20 } ?? queuedBytes
  }
}

extension RelayConfiguration.Limits {
  init(_ settings: Settings) throws(WhiteboardError) {
    self.init()
    boards = settings.value(.boards) ?? boards
    allowed = settings.value(.allow) ?? allowed
    maximumBoards = settings.value(.maximumBoards) ?? maximumBoards
    maximumBoardsPerHost = settings.value(.maximumBoardsPerHost) ?? maximumBoardsPerHost
    maximumBoardsPerAddress = settings.value(.maximumBoardsPerAddress) ?? maximumBoardsPerAddress
    reservedBoards = settings.value(.reservedBoards)
    if let reservedBoards, reservedBoards >= maximumBoards {
      throw WhiteboardError(
        .badConfiguration,
        "reserved-boards (\(reservedBoards)) must be less than max-boards (\(maximumBoards)): "
          + "lower reserved-boards, or raise max-boards"
      )
    }
    maximumPeople = settings.value(.maximumPeople) ?? maximumPeople
    maximumBoardMegabytes = settings.value(.maximumBoardMegabytes) ?? maximumBoardMegabytes
    retention = settings.value(.retain) ?? retention
  }
}
