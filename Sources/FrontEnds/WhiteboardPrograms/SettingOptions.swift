import ArgumentParser
import CommandLines
import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import WhiteboardKit

extension [String: String] {
  package subscript<Setting>(_ key: SettingKey<Setting>) -> String? {
    get { self[key.entry.name] }
    set { self[key.entry.name] = newValue }
  }
}

extension ArgumentHelp {
  package static func of<Value>(_ key: SettingKey<Value>, _ valueName: String? = nil) -> ArgumentHelp {
    ArgumentHelp("\(key.entry.help)", valueName: valueName)
  }
}

extension CompletionKind {
  package static func of<Value>(_ key: SettingKey<Value>) -> CompletionKind { .list(key.entry.choices) }
}

package struct WebOptions: ParsableArguments {
  @Flag(exclusivity: .chooseLast) package var web: WebChoice?

  @Flag(inversion: .prefixedNo, help: .of(.webInvite)) package var webInvite: Bool?

  @Option(name: .customLong("web-port"), help: .of(.webPort, "PORT")) package var webPort: String?

  @Option(name: .customLong("web-certificate"), help: .of(.webCertificate, "FILE"), completion: .file()) package
    var webCertificate: String?

  @Option(name: .customLong("web-key"), help: .of(.webKey, "FILE"), completion: .file()) package var webKey: String?

  package init() {}

  package func add(to flags: inout [String: String]) {
    flags[.web] = web.map { "\($0 == .on)" }
    flags[.webInvite] = webInvite.map { "\($0)" }
    flags[.webPort] = webPort
    flags[.webCertificate] = webCertificate
    flags[.webKey] = webKey
  }
}

package enum WebChoice: EnumerableFlag {
  case on
  case off

  package static func name(for choice: WebChoice) -> NameSpecification {
    .customLong(choice == .on ? "web" : "no-web")
  }

  package static func help(for choice: WebChoice) -> ArgumentHelp? {
    choice == .on
      ? .of(.web)
      : "Do not let people join from a browser, even if the configuration file says so. [WHITEBOARD_WEB]"
  }
}

extension SettingEntry {
  package var line: String {
    let variables = [variable, otherwise?.variable].compactMap { $0 }
    return "  \(name) is \(allowed) [\(flag), \(variables.joined(separator: ", "))]"
  }
}

extension Settings {
  package init(_ entries: [SettingEntry], flags: [String: String] = [:], at place: SettingsFile.Place?)
    throws(WhiteboardError)
  {
    let file = try place.flatMap { (place) throws(WhiteboardError) in try SettingsFile(at: place) }
    try self.init(entries, flags: flags, environment: { Environment[$0] }, file: file)
  }

  package func chosenDataDirectory() throws(WhiteboardError) -> String {
    if let given = try directory(.dataDirectory) { return given }
    // The XDG specification requires that relative paths are ignored.
    if let data = Environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/whiteboard" }
    guard let home = Environment["HOME"], home.hasPrefix("/") else {
      throw WhiteboardError(.badConfiguration, "HOME is not set; give a directory with --data-dir")
    }
    return home + "/.local/share/whiteboard"
  }

  /// Returns the absolute path of a directory that a setting names. Returns nil if the setting has no value. Throws if
  /// the configuration file contains a relative path.
  package func directory(_ key: SettingKey<String>) throws(WhiteboardError) -> String? {
    guard let given = value(key) else { return nil }
    guard case .file(let path, let line) = origin(key) else { return BoardFile.absolute(given) }
    // The program can be started in any directory, so relative paths in the configuration file
    // are rejected. No shell expands `~`, so it is expanded here.
    if given.hasPrefix("~/"), let home = Environment["HOME"] { return home + given.dropFirst() }
    guard given.hasPrefix("/") else {
      throw WhiteboardError(.badConfiguration, "\(path):\(line): \(key.entry.name) must begin with / or ~/")
    }
    return given
  }

  package func logger(_ program: String) -> Logger {
    var logger = Logger(label: program) { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = value(.logLevel) ?? .warning
    return logger
  }
}

package struct SettingLine: Encodable {
  let name: String
  /// The value; nil if the setting is a secret, or if its default is not a fixed value.
  let value: String?
  /// The source of the value: `flag`, `environment`, `file` or `default`.
  let origin: String
  /// The flag, variable, or file and line that set the value; for a default that is not a fixed value, a description of
  /// the default.
  let place: String?

  package init(_ entry: SettingEntry, _ settings: Settings) {
    name = entry.name
    guard let choice = settings.choices[entry.name] else {
      origin = "default"
      switch entry.standard {
      case .value(let text): (value, place) = (text, nil)
      case .words(let text): (value, place) = (nil, text)
      }
      return
    }
    value = entry.isSecret ? nil : choice.text
    origin =
      switch choice.origin {
      case .flag: "flag"
      case .environment: "environment"
      case .file: "file"
      }
    place = choice.origin.description
  }

  package var json: String { String(decoding: EventLine.json("setting", self), as: UTF8.self) }

  package func text(withOrigin: Bool) -> String {
    let place = place.map { UntrustedText($0).escaped(limit: 4096) }
    guard let value else {
      let said = origin == "default" ? "" : "set, but not shown; "
      return "# \(name): \(said)\(origin == "default" ? "default, " : "")\(place ?? "")\n"
    }
    let line = "\(name) = \(SettingLine.quoted(value))"
    return withOrigin ? "\(padded(line))# \(place ?? origin)\n" : "\(line)\n"
  }

  static func quoted(_ value: String) -> String {
    let isBare =
      !value.isEmpty && value.first?.isWhitespace == false && value.last?.isWhitespace == false
      && !value.contains { $0 == "\"" || $0 == "#" }
    if isBare { return UntrustedText(value).escaped() }
    let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    return "\"\(UntrustedText(escaped).escaped())\""
  }
}

package struct KeyLine: Encodable {
  let command: String
  let keys: [String]
  let place: String

  package init(_ binding: KeyBinding) {
    command = binding.command
    keys = binding.keys
    place = binding.place
  }

  package var json: String { String(decoding: EventLine.json("key-binding", self), as: UTF8.self) }

  package func text(withOrigin: Bool) -> String {
    let names = SettingLine.quoted(keys.joined(separator: ", "))
    let line = "\(UntrustedText(command).escaped()) = \(names)"
    return withOrigin ? "\(padded(line))# \(UntrustedText(place).escaped(limit: 4096))\n" : "\(line)\n"
  }
}

private func padded(_ line: String) -> String { line + String(repeating: " ", count: max(2, 32 - line.count)) }

package enum Environment {
  package static var userName: String { Self["USER"] ?? PeerStore.defaultName }

  package static subscript(_ name: String) -> String? {
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else { return nil }
    return value
  }
}
