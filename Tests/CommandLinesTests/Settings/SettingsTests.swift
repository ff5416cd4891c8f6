import Testing
import WhiteboardKit

@testable import CommandLines

@Suite struct SettingsTests {
  private func settings(flags: [String: String] = [:], environment: [String: String] = [:], file: String = "") throws
    -> Settings
  {
    try Settings(
      SettingEntry.ofBoard,
      flags: flags,
      environment: { environment[$0] },
      file: SettingsFile(file, path: "config")
    )
  }

  @Test("the help of two opposite flags names the default") func flags() {
    #expect(SettingKey.announce.entry.help.contains("; default: --announce. ["))
    #expect(SettingKey.acceptFiles.entry.help.contains("; default: --no-accept-files. ["))
    #expect(SettingKey.maximumPeers.entry.help.contains("; default: 16, or 128"))
  }

  @Test("a flag has precedence over the environment, and the environment over the file") func precedence() throws {
    let (file, variable) = ("name = Ada", ["WHITEBOARD_NAME": "Ben"])
    let all = try settings(flags: ["name": "Cy"], environment: variable, file: file)
    #expect(all.value(.personName) == "Cy")
    #expect(all.origin(.personName) == .flag("--as"))
    let two = try settings(environment: variable, file: file)
    #expect(two.value(.personName) == "Ben")
    #expect(two.origin(.personName) == .environment("WHITEBOARD_NAME"))
    let one = try settings(file: file)
    #expect(one.value(.personName) == "Ada")
    #expect(one.origin(.personName) == .file("config", line: 1))
    #expect(try settings().value(.personName) == nil)
  }

  @Test("a foreign variable counts if it is set, and our own variable has precedence over it") func presence() throws {
    #expect(try settings(environment: ["ACCESSIBLE": "x"]).value(.accessible) == true)
    let ours = ["ACCESSIBLE": "1", "WHITEBOARD_ACCESSIBLE": "false"]
    #expect(try settings(environment: ours).value(.accessible) == false)
  }

  @Test("values have the types of their settings") func values() throws {
    let settings = try settings(
      file: "listen = [::]:0\nlost-after = 7.5\nadmit = known\nannounce = false\nlog-level = debug"
    )
    #expect(settings.value(.listen)?.port == 0)
    #expect(settings.value(.lostAfter) == .milliseconds(7500))
    #expect(settings.value(.admission) == .known)
    #expect(settings.value(.announce) == false)
    #expect(settings.value(.logLevel) == .debug)
  }

  @Test("an invalid value is an error that names its place and the allowed values") func faults() {
    func message(_ make: @autoclosure () throws -> Settings) -> String {
      let error = #expect(throws: WhiteboardError.self) { _ = try make() }
      return error.map { "\($0.code.rawValue) \($0.message)" } ?? ""
    }
    #expect(
      message(try settings(file: "\nadmit = all"))
        == #"78 config:2: admit is one of ask, code, known, anyone, not "all""#
    )
    #expect(
      message(try settings(environment: ["WHITEBOARD_LOST_AFTER": "1"]))
        == #"78 WHITEBOARD_LOST_AFTER is a number of seconds from 7 to 86400, not "1""#
    )
    #expect(message(try settings(flags: ["listen": "x"])).hasPrefix("64 --listen is ADDR:PORT, like "))
    #expect(
      message(try settings(file: "nmae = Ada")).hasPrefix(
        #"78 config:1: there is no setting "nmae"; did you mean name? The settings are name, data-dir, "#
      )
    )
  }

  @Test("a code is validated and never printed") func secret() {
    let error = #expect(throws: WhiteboardError.self) { _ = try settings(file: "code = river-maple") }
    #expect(error?.message.contains("maple") == false)
  }
}
