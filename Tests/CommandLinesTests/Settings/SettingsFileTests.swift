import Foundation
import Testing
import WhiteboardKit

@testable import CommandLines

@Suite struct SettingsFileTests {
  private func fault(_ text: String) -> SettingsFile.Fault? {
    #expect(throws: SettingsFile.Fault.self) { _ = try SettingsFile(text, path: "config") }
  }

  @Test("lines, comments and quotes are parsed") func lines() throws {
    let text = """
      # mine
      name = Ada Lovelace   # me

      code = "a # b"
      \tpen=half
      path = a#b
      quoted = " \\"x\\" \\\\ "
      empty =
      equation = a = b
      """
    let file = try SettingsFile(text, path: "config")
    #expect(
      file.lines.map { [$0.name, $0.value, "\($0.number)"] } == [
        ["name", "Ada Lovelace", "2"], ["code", "a # b", "4"], ["pen", "half", "5"], ["path", "a#b", "6"],
        ["quoted", " \"x\" \\ ", "7"], ["empty", "", "8"], ["equation", "a = b", "9"],
      ]
    )
    #expect(file.keys.isEmpty)
  }

  @Test("a byte order mark at the beginning is ignored") func byteOrderMark() throws {
    let file = try SettingsFile("\u{FEFF}name = Ada\n", path: "config")
    #expect(file.lines.map(\.name) == ["name"])
  }

  @Test("keys are bound in the section [keys], or with keys.COMMAND anywhere") func keys() throws {
    let text = "keys.redo = U\r\nname = Ada\r\n[keys]\r\nundo = u, ctrl+z\r\ngrid = \"#\"\r\nquit =\r\n"
    let file = try SettingsFile(text, path: "config")
    #expect(
      file.keys == [
        KeyBinding(command: "redo", keys: ["U"], place: "config:1"),
        KeyBinding(command: "undo", keys: ["u", "ctrl+z"], place: "config:4"),
        KeyBinding(command: "grid", keys: ["#"], place: "config:5"),
        KeyBinding(command: "quit", keys: [], place: "config:6"),
      ]
    )
    #expect(file.lines.map(\.value) == ["Ada"])
  }

  @Test(
    "a malformed line is rejected with its number",
    arguments: [
      ("name\n", 1), ("\n= x", 2), ("[node]", 1), ("a = \"x", 1), ("a = \"x\" y", 1), (#"a = "\n""#, 1),
      ("a = 1\nb = 2\na = 3", 3), ("[keys]\nu = x\nkeys.u = y", 3),
    ]
  ) func faults(_ text: String, _ number: Int) { #expect(fault(text)?.number == number) }

  @Test("a file that the user names must exist, and the default file need not") func places() throws {
    let variables = ["HOME": "/nobody", "XDG_CONFIG_HOME": "here"]
    let standard = try #require(SettingsFile.Place(nil) { variables[$0] })
    #expect(standard.path == "/nobody/.config/whiteboard/config")
    #expect(try SettingsFile(at: standard) == nil)
    let named = try #require(SettingsFile.Place("/nobody/config") { _ in nil })
    let error = #expect(throws: WhiteboardError.self) { _ = try SettingsFile(at: named) }
    #expect(error?.code == .noInput)
    #expect(SettingsFile.Place(nil) { _ in nil } == nil)
  }

  @Test("anything but a text file of a limited size is refused") func unreadable() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    func refuses(_ path: String) throws {
      let place = try #require(SettingsFile.Place(path) { _ in nil })
      let error = #expect(throws: WhiteboardError.self) { _ = try SettingsFile(at: place) }
      #expect(error?.code == .badConfiguration)
    }
    try refuses("/")
    let long = [UInt8](repeating: 0x20, count: SettingsFile.maximumSize + 1)
    for bytes in [[0xFF, 0xFE], long] {
      try Data(bytes).write(to: file)
      try refuses(file.path)
    }
  }
}
