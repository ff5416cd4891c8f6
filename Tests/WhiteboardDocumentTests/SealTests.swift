import Foundation
import GRDB
import Testing

@testable import WhiteboardDocument

/// The facts in a file that make a program act, and the seal by which a program recognizes its own facts.
@Suite struct SealTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(atPath: directory.file("boards"), withIntermediateDirectories: true)
  }

  private var seal: DocumentSeal { .loadOrCreate(inDirectory: directory.path) }
  private var library: BoardLibrary { BoardLibrary(directory: directory.file("boards"), seal: seal) }

  /// Creates a file with all facts; `seal` is nil for a file of an earlier release.
  private func made(at path: String, _ seal: DocumentSeal?) async throws {
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "Plans", now: 0, seal: seal)
    try await document.setMembership("members", code: "a-b-c-d")
    try await document.setFact(.admission, "anyone")
    try await document.setFact(.removal, "removal")
    try await document.setFact(.browserLinks, "links")
    try await document.append([numbered(0)])
    try await document.close()
  }

  private func facts(_ document: BoardDocument) async throws -> [String?] {
    [
      try await document.fact(.membership), try await document.fact(.code), try await document.fact(.removal),
      try await document.fact(.browserLinks), try await document.fact(.admission),
    ]
  }

  private let all: [String?] = ["members", "a-b-c-d", "removal", "links", "anyone"]
  private let none: [String?] = [nil, nil, nil, nil, nil]

  @Test("[REC-20] a program uses the facts that it wrote, wherever the file is") func own() async throws {
    let path = directory.file("boards/plans.whiteboard")
    try await made(at: path, seal)
    let moved = directory.file("moved.whiteboard")
    try FileManager.default.copyItem(atPath: path, toPath: moved)
    for path in [path, moved] {
      for mode in [BoardDocument.Mode.reading, .writing] {
        let document = try await BoardDocument.open(at: path, mode: mode, seal: library.seal(forFile: path))
        #expect(try await facts(document) == all)
        #expect(!document.hasForeignFacts)
        try await document.close()
      }
    }
  }

  @Test("[REC-20] the mark of a fact depends on its board, its name and its value") func marks() {
    let mark = seal.mark(.code, "a-b-c-d", board: "one")
    #expect(mark == seal.mark(.code, "a-b-c-d", board: "one"))
    #expect(mark != seal.mark(.code, "a-b-c-d", board: "two"))
    #expect(mark != seal.mark(.name, "a-b-c-d", board: "one"))
    #expect(mark != seal.mark(.code, "a-b-c-e", board: "one"))
  }

  @Test("[REC-20] the facts of a foreign file are not used, and opening it for writing removes them") func foreign()
    async throws
  {
    for (name, writer) in [("sealed", DocumentSeal()), ("old", nil)] as [(String, DocumentSeal?)] {
      // The secret exists before the file, so the file does not come from an earlier release.
      let library = library
      let path = directory.file("boards/\(name).whiteboard")
      try await made(at: path, writer)
      var status = stat()
      while stat(path, &status) == 0, library.seal(forFile: path)?.acceptsAll == true {
        // The clock of the file system has not advanced since the secret was created.
        chmod(path, 0o600)
      }
      let reading = try await BoardDocument.open(at: path, mode: .reading, seal: library.seal(forFile: path))
      #expect(try await facts(reading) == none)
      #expect(reading.hasForeignFacts)
      try await reading.close()
      let document = try await library.open(board: someBoard, name: "x", now: 0)
      #expect(try await facts(document) == none)
      #expect(document.hasForeignFacts)
      #expect(numbers(try await document.load().entries) == [0])
      // After the program has written a fact itself, facts are used again.
      try await document.setMembership("own", code: nil)
      try await document.close()
      let again = try await library.open(board: someBoard, name: "x", now: 0)
      #expect(try await facts(again) == ["own", nil, nil, nil, nil])
      #expect(!again.hasForeignFacts)
      try await again.close()
      let keys = try await DatabaseQueue(path: path).read { db in try String.fetchSet(db, sql: "SELECT key FROM meta") }
      #expect(keys.isDisjoint(with: ["code", "removal", "browser_links", "admission"]))
      unlink(path)
    }
  }

  @Test("[REC-20] if the user trusts a foreign file, its facts are sealed") func trusted() async throws {
    let path = directory.file()
    try await made(at: path, DocumentSeal())
    var trusting = seal
    trusting.acceptsAll = true
    let document = try await BoardDocument.open(at: path, mode: .writing, seal: trusting)
    #expect(try await facts(document) == all)
    #expect(!document.hasForeignFacts)
    try await document.close()
    let again = try await BoardDocument.open(at: path, mode: .writing, seal: seal)
    #expect(try await facts(again) == all)
    try await again.close()
  }

  @Test("[REC-20] files of an earlier release in the data directory keep their facts, others do not") func earlier()
    async throws
  {
    let path = directory.file("boards/plans.whiteboard")
    let other = directory.file("other.whiteboard")
    try await made(at: path, nil)
    try await made(at: other, nil)
    let linked = directory.file("linked.whiteboard")
    try await made(at: linked, nil)
    try FileManager.default.createSymbolicLink(
      atPath: directory.file("boards/link.whiteboard"),
      withDestinationPath: linked
    )
    // The secret is created now, in a directory that an earlier release used.
    try Data().write(to: URL(fileURLWithPath: directory.file("identity.pem")))
    let library = library
    for (path, expected) in [(path, all), (other, none), (directory.file("boards/link.whiteboard"), none)] {
      let document = try await BoardDocument.open(at: path, mode: .writing, seal: library.seal(forFile: path))
      #expect(try await facts(document) == expected, "\(path)")
      #expect(document.hasForeignFacts == (expected == none))
      try await document.close()
    }
  }

  @Test("[REC-20] a file that is in the data directory before its first use is foreign") func first() async throws {
    let path = directory.file("boards/plans.whiteboard")
    try await made(at: path, nil)
    _ = seal
    // The file remains foreign, although the identity is created now.
    try Data().write(to: URL(fileURLWithPath: directory.file("identity.pem")))
    let document = try await BoardDocument.open(at: path, mode: .writing, seal: library.seal(forFile: path))
    #expect(try await facts(document) == none)
    #expect(document.hasForeignFacts)
    try await document.close()
    try await made(at: directory.file("boards/own.whiteboard"), seal)
    let own = directory.file("boards/own.whiteboard")
    let mine = try await BoardDocument.open(at: own, mode: .writing, seal: library.seal(forFile: own))
    #expect(try await facts(mine) == all)
    try await mine.close()
  }

  @Test("[REC-20] a seal is valid only for its board and its value, and a copy has no facts") func forged() async throws
  {
    let path = directory.file()
    try await made(at: path, seal)
    try await DatabaseQueue(path: path).write { db in
      try Meta.set(db, .membership, "changed")
      try db.execute(
        sql: "UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'seal code') WHERE key = 'seal removal'"
      )
    }
    let document = try await BoardDocument.open(at: path, mode: .reading, seal: seal)
    #expect(try await facts(document) == [nil, "a-b-c-d", nil, "links", "anyone"])
    let copy = directory.file("copy.whiteboard")
    try await document.save(as: copy)
    try await document.close()
    let keys = try await DatabaseQueue(path: copy).read { db in try String.fetchAll(db, sql: "SELECT key FROM meta") }
    #expect(!keys.contains { $0.contains("seal") || ["code", "membership", "hosted"].contains($0) })
  }

  @Test("a secret is created once, and replaced only if it is damaged") func secret() async throws {
    let path = directory.file("seal.key")
    let home = directory.path
    let codes = await withTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { DocumentSeal.loadOrCreate(inDirectory: home).mark(.code, "x", board: "b") } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(codes.count == 1)
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    try Data([1]).write(to: URL(fileURLWithPath: path))
    let new = seal.mark(.code, "x", board: "b")
    #expect(!codes.contains(new) && seal.mark(.code, "x", board: "b") == new)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home).sorted() == ["boards", "seal.key"])
  }
}
