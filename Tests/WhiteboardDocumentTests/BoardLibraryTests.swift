import Foundation
import Testing
import WhiteboardDocument

@Suite struct BoardLibraryTests {
  let directory: TemporaryDirectory
  let library: BoardLibrary

  init() throws {
    directory = try TemporaryDirectory()
    library = BoardLibrary(directory: directory.path)
  }

  private func add(_ name: String, _ number: UInt8, objects: Int, person: String) async throws {
    let board = [UInt8](repeating: number, count: 16)
    let document = try await BoardDocument.create(
      at: library.path(name: name, board: board),
      board: board,
      name: name,
      now: 0
    )
    try await document.setSummary(objects: objects, people: [person], thumbnail: "<svg/>", changed: Int64(objects))
    try await document.close()
  }

  @Test("documents are listed, filtered and sorted; any other file is listed with its error") func listing()
    async throws
  {
    try await add("Beta", 1, objects: 5, person: "Ann")
    try await add("alpha", 2, objects: 9, person: "Bob")
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: directory.file("foreign.whiteboard")))
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: directory.file("notes.txt")))
    let all = try await library.list()
    #expect(all.map(\.name) == ["alpha", "Beta", "foreign"])
    #expect(all.map(\.error?.code) == [nil, nil, .wrongKind])
    #expect(all.map(\.objects) == [9, 5, nil])
    #expect(all.first?.thumbnail == "<svg/>")
    #expect(try await library.list(.init(text: "ALP")).map(\.name) == ["alpha"])
    #expect(try await library.list(.init(person: "Ann")).map(\.name) == ["Beta"])
    #expect(try await library.list(by: .objects).map(\.name) == ["alpha", "Beta", "foreign"])
    let missing = BoardLibrary(directory: directory.file("nowhere"))
    #expect(try await missing.list().isEmpty)
  }

  @Test("a board with changes after its summary is never listed with 0 objects") func outdated() async throws {
    let board = [UInt8](repeating: 3, count: 16)
    let document = try await BoardDocument.create(
      at: library.path(name: "one", board: board),
      board: board,
      name: "one",
      now: 0
    )
    var listed: [Int?] = []
    var outdated: [Bool] = []
    func list() async throws {
      let summary = try #require(try await library.list().first)
      listed.append(summary.objects)
      outdated.append(summary.isOutdated)
    }
    try await list()
    try await document.append([numbered(1)])
    try await list()
    for objects in [0, 3] {
      try await document.setCounts(objects: objects, people: [], changed: 0)
      try await list()
    }
    try await document.close()
    #expect(listed == [0, nil, nil, 3] && outdated == [false, true, true, true])
  }

  @Test("no name leads to a path outside of the library") func fileNames() {
    for name in [
      "../../etc/passwd", "..", "", "\u{0}", "日本", "a/b", String(repeating: "x", count: 999),
      String(repeating: "漢", count: 99), "\u{202E}\u{301}x\u{200B}y", "☃ ★",
    ] {
      let file = BoardLibrary.fileName(name: name, board: someBoard)
      #expect(file.utf8.count < 80)
      #expect(file.allSatisfy { $0.isLetter || $0.isNumber || "-.".contains($0) })
      #expect(!file.hasPrefix(".") && !file.contains(".."))
    }
    for (name, stem) in [("Ideas of May", "ideas-of-may"), ("日本の計画", "日本の計画"), ("Größe 2", "größe-2"), ("★", "board")] {
      let file = BoardLibrary.fileName(name: name, board: someBoard)
      #expect(file == "\(stem)-aebagbaf.whiteboard")
    }
  }

  @Test("watching reports existing, new, replaced and removed documents") func watching() async throws {
    try await add("one", 1, objects: 1, person: "")
    var changes = library.watch(interval: .milliseconds(1)).makeAsyncIterator()
    guard case .added(let first) = await changes.next() else {
      Issue.record("not added")
      return
    }
    #expect(first.name == "one")
    let other = BoardLibrary(directory: directory.file("other"))
    try FileManager.default.createDirectory(atPath: other.directory, withIntermediateDirectories: true)
    let made = try await BoardDocument.create(at: other.directory + "/x", board: otherBoard, name: "two", now: 0)
    try await made.close()
    rename(other.directory + "/x", first.path)
    var seen: [LibraryChange] = []
    while let change = await changes.next() {
      seen.append(change)
      if case .changed(let summary) = change, summary.name == "two" { break }
    }
    #expect(seen.count < 5)
    unlink(first.path)
    #expect(await changes.next() == .removed(first.path))
  }

  @Test("watching continues after the directory is removed and created again") func remade() async throws {
    let library = BoardLibrary(directory: directory.file("boards"))
    let make = {
      try FileManager.default.createDirectory(atPath: library.directory, withIntermediateDirectories: true)
      try Data().write(to: URL(fileURLWithPath: library.directory + "/one.whiteboard"))
    }
    try make()
    var changes = library.watch(interval: .milliseconds(1)).makeAsyncIterator()
    guard case .added? = await changes.next() else {
      Issue.record("not added")
      return
    }
    try FileManager.default.removeItem(atPath: library.directory)
    #expect(await changes.next() == .removed(library.directory + "/one.whiteboard"))
    try make()
    while let change = await changes.next() { if case .added = change { break } }
    // The directory is watched again, and not only polled.
    try FileManager.default.removeItem(atPath: library.directory + "/one.whiteboard")
    while let change = await changes.next() { if case .removed = change { break } }
  }
}

@Suite struct PersonalSettingsTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test("settings behind a symbolic link are changed where they are") func linkedSettings() async throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: directory.file("dotfiles"), withIntermediateDirectories: false)
    for link in ["settings.json", "missing.json"] {
      let target = directory.file("dotfiles/\(link)")
      if link == "settings.json" { try Data("{}".utf8).write(to: URL(fileURLWithPath: target)) }
      try manager.createSymbolicLink(atPath: directory.file(link), withDestinationPath: "dotfiles/\(link)")
      try await PersonalSettings(path: directory.file(link)).set("name", to: "Ann")
      #expect(try manager.destinationOfSymbolicLink(atPath: directory.file(link)) == "dotfiles/\(link)")
      #expect(try await PersonalSettings(path: target).value("name") == "Ann")
    }
  }

  @Test("a symbolic link that is made later is followed", .timeLimit(.minutes(1))) func laterLink() async throws {
    let manager = FileManager.default
    let (path, target) = (directory.file("settings.json"), directory.file("dotfiles/settings.json"))
    let settings = PersonalSettings(path: path)
    try await settings.set("name", to: "Ann")
    var changes = try await settings.changes().makeAsyncIterator()
    try manager.createDirectory(atPath: directory.file("dotfiles"), withIntermediateDirectories: false)
    try Data(#"{"name": "Bob"}"#.utf8).write(to: URL(fileURLWithPath: target))
    try manager.removeItem(atPath: path)
    try manager.createSymbolicLink(atPath: path, withDestinationPath: "dotfiles/settings.json")
    while let change = await changes.next() { if change.new == "Bob" { break } }
    try await PersonalSettings(path: target).set("name", to: "Cid")
    #expect(await changes.next() == .init(key: "name", old: "Bob", new: "Cid"))
    try await settings.set("icon", to: "👻")
    #expect(try manager.destinationOfSymbolicLink(atPath: path) == "dotfiles/settings.json")
    #expect(try await PersonalSettings(path: target).values() == ["name": "Cid", "icon": "👻"])
  }

  @Test("settings are stored, and unknown keys in the file stay") func keeping() async throws {
    let path = directory.file("settings.json")
    let settings = PersonalSettings(path: path)
    #expect(try await settings.values().isEmpty)
    try Data(#"{"later": {"deep": [1, 2]}, "name": "Ann"}"#.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try await settings.values() == ["name": "Ann"])
    try await settings.set(["name": nil, "icon": "🐙"])
    #expect(try await PersonalSettings(path: path).values() == ["icon": "🐙"])
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("deep"))
  }

  @Test("a write above the limit, or over a damaged file, is refused and changes nothing") func refusals() async throws
  {
    let path = directory.file("settings.json")
    let settings = PersonalSettings(path: path)
    try await settings.set("name", to: "Ann")
    let large = String(repeating: "x", count: PersonalSettings.maximumSize)
    #expect(await code { try await settings.set("name", to: large) } == .tooLarge)
    #expect(try await settings.value("name") == "Ann")
    try Data(#"{"name": "#.utf8).write(to: URL(fileURLWithPath: path))
    #expect(await code { try await settings.set("name", to: "Bob") } == .damaged)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == #"{"name": "#)
  }

  @Test("changes by other accessors are reported with the old and the new value", .timeLimit(.minutes(1)))
  func observing() async throws {
    let path = directory.file("settings.json")
    let settings = PersonalSettings(path: path)
    try await settings.set(["name": "Ann", "icon": "👻"])
    var changes = try await settings.changes().makeAsyncIterator()
    let other = PersonalSettings(path: path)
    try await other.set(["name": "Bob", "icon": nil])
    #expect(await changes.next() == .init(key: "icon", old: "👻", new: nil))
    #expect(await changes.next() == .init(key: "name", old: "Ann", new: "Bob"))
    // A write that changes nothing is not reported, and neither is a damaged file.
    try await other.set("name", to: "Bob")
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    try Data(#"{"name": "#.utf8).write(to: URL(fileURLWithPath: path))
    try whole.write(to: URL(fileURLWithPath: path))
    // Neither are changes through the same accessor.
    try await settings.set(["name": "Cid", "later": "1"])
    try await other.set(["name": "Dan"])
    #expect(await changes.next() == .init(key: "name", old: "Cid", new: "Dan"))
    let reading = Task { await changes.next() }
    reading.cancel()
    #expect(await reading.value == nil)
  }

  @Test("the used part of the maximum size is known") func usedPart() async throws {
    let settings = PersonalSettings(path: directory.file("settings.json"))
    #expect(settings.usedPart == 0)
    try await settings.set("hidden", to: String(repeating: "x", count: PersonalSettings.maximumSize * 95 / 100))
    #expect((0.95..<1).contains(settings.usedPart))
    let large = String(repeating: "x", count: PersonalSettings.maximumSize / 10)
    #expect(await code { try await settings.set("name", to: large) } == .tooLarge)
    #expect(try await settings.values().keys.sorted() == ["hidden"])
  }

  @Test("a name that another board has is refused") func takenName() async throws {
    let directory = try TemporaryDirectory()
    let library = BoardLibrary(directory: directory.path)
    let first = try await library.open(named: "plan", orMaking: someBoard, now: 0)
    try await first.close()
    #expect(await code { try await library.giving("plan") {} } == .exists)
    #expect(await code { try await library.giving("plan", to: first.path) {} } == nil)
    #expect(await code { try await library.giving("other") {} } == nil)
  }
}
