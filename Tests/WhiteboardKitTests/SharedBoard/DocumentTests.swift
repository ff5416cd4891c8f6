import CommandLines
import Foundation
import PeerCore
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardPrograms

@testable import WhiteboardKit

/// The stored contents of a board, and their return after a restart.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DocumentTests: BoardSuite {
  /// Hosts a board by name or file in ada's data directory, and ends the host.
  @discardableResult private func host(
    _ room: BoardRoom,
    _ name: String = "board",
    file: String? = nil,
    keepsPhotoFiles: Bool = true,
    _ body: (ScriptedBoard) async throws -> Void = { _ in }
  ) async throws -> SharedBoard.News.Ready {
    let host = ScriptedBoard()
    return try await withThrowingTaskGroup(of: Void.self) { group in
      var hosting = await room.configuration(.host(boardName: name), "ada")
      hosting.boardFile = file
      hosting.keepsPhotoFiles = keepsPhotoFiles
      let configuration = hosting
      group.addTask { try await host.run(configuration) }
      guard let ready = await host.ready() else {
        try await group.next()
        throw WhiteboardError(.internal, "it ended before it was ready")
      }
      try await body(host)
      await host.end()
      try await group.waitForAll()
      return ready
    }
  }

  private func file(_ room: BoardRoom) async throws -> String {
    try #require(try await library(room).list().first).path
  }

  private func library(_ room: BoardRoom) -> BoardLibrary { BoardLibrary(directory: room.path("ada/boards")) }

  private func photos(_ path: String) async throws -> Set<[UInt8]> {
    try await BoardDocument.open(at: path, mode: .reading).assetIDs()
  }

  private func warnings(_ scriptedBoard: ScriptedBoard) async -> [String] {
    var codes: [String] = []
    for case .news(.warning(let warning)) in await scriptedBoard.events { codes.append(warning.code) }
    return codes
  }

  @Test("after reopening a file, the moves of players who joined after the last keyframe count")
  func movesAfterKeyframe() async throws {
    try await withPair { room, host, guest in
      let game = try #require(try await host.perform("game connect-four 0,0").id)
      try await guest.perform("wait objects=1 timeout=30")
      try await host.perform("checkpoint first")
      try await guest.perform("play \(game) 3")
      try await guest.perform("wait synced timeout=30")
      let copy = room.path("copy.whiteboard")
      try await host.perform("save-as \(copy)")
      let again = ScriptedBoard()
      var hosting = await room.configuration(.host(boardName: ""), "eve")
      hosting.boardFile = copy
      let configuration = hosting
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await again.run(configuration) }
        _ = await again.ready()
        try await again.perform("show \(game)")
        var lines: [UntrustedText] = []
        for case .answer(.object(let object), _) in await again.events { lines = object.game?.lines ?? [] }
        #expect(lines.contains("..R...."), "\(lines)")
        await again.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("when the command is done, the photo is in the file, and also in later copies") func photo() async throws {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      let copy = room.path("copy.whiteboard")
      try await host(room) { host in
        try await host.perform("photo 5,5 \(sun)")
        #expect(try await photos(try await file(room)).count == 1)
        try await host.perform("save-as \(copy)")
      }
      #expect(try await photos(copy).count == 1)
    }
  }

  @Test("a photo that the file lacks is stored in it; only a photo that is damaged there stays missing")
  func photosThatAreMissing() async throws {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      try await host(room) { try await $0.perform("photo 5,5 \(sun)") }
      let path = try await file(room)
      let id = try #require(try await photos(path).first)
      let document = try await BoardDocument.open(at: path, mode: .writing)
      try await document.removeAsset(id)
      try await document.close()
      try await host(room)
      #expect(try await photos(path) == [id])

      try FileManager.default.removeItem(atPath: room.path("ada/assets"))
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      let place = try #require(data.range(of: Data(Demo.photo)))
      data[place.lowerBound + 50] ^= 1
      try data.write(to: URL(fileURLWithPath: path))
      try await host(room) { host in
        #expect(Set(await warnings(host)) == ["document-damaged", "photo-lost"])
        try await host.perform("objects")
        for case .answer(.objects(let answer), _) in await host.events { #expect(answer.count == 1) }
      }
      #expect(try await photos(path).isEmpty)
    }
  }

  @Test("[REC-16] a damaged photo is reported on opening, and stored again from its file") func damagedPhoto()
    async throws
  {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      try await host(room) { try await $0.perform("photo 5,5 \(sun)") }
      let path = try await file(room)
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      let place = try #require(data.range(of: Data(Demo.photo)))
      data[place.lowerBound + 50] ^= 1
      try data.write(to: URL(fileURLWithPath: path))
      try await host(room) { #expect(Set(await warnings($0)) == ["document-damaged"]) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")) == data)
      #expect(try await BoardFile.verify(path).isEmpty)
      try await host(room) { #expect(await warnings($0).isEmpty) }
    }
  }

  @Test("a program whose output names no files stores a photo only in the document") func photosStoredOnce()
    async throws
  {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      let files = { try FileManager.default.contentsOfDirectory(atPath: room.path("ada/assets")) }
      for verb in ["photo 5,5 \(sun)", "objects"] {
        try await host(room, keepsPhotoFiles: false) { host in
          try await host.perform(verb)
          #expect(try files().isEmpty)
          let page = room.path("page-\(verb.utf8.count).svg")
          try await host.perform("export \(page)")
          let svg = try String(contentsOf: URL(fileURLWithPath: page), encoding: .utf8)
          #expect(svg.contains(Data(Demo.photo).base64EncodedString()))
          #expect(try files().isEmpty)
        }
      }
      let path = try await file(room)
      let id = try #require(try await photos(path).first)
      let document = try await BoardDocument.open(at: path, mode: .writing)
      try await document.removeAsset(id)
      try await document.close()
      try await host(room, keepsPhotoFiles: false) { host in
        try await host.perform("export \(room.path("without.svg"))")
        #expect(await warnings(host).isEmpty)
      }
    }
  }

  @Test("the photo of a deleted object is available when the object is restored later") func photoOfDeleted()
    async throws
  {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      var id = ""
      try await host(room) { host in
        id = try #require(try await host.perform("photo 5,5 \(sun)").id?.description)
        try await host.perform("delete \(id)")
      }
      try FileManager.default.removeItem(atPath: room.path("ada/assets"))
      try await host(room) { host in
        try await host.perform("undelete \(id)")
        try await host.perform("objects")
        for case .answer(.objects(let answer), _) in await host.events {
          #expect(answer.map { $0.path != nil } == [true])
        }
      }
    }
  }

  @Test("a damaged photo file is replaced from the document, or deleted if the document lacks it") func damagedFile()
    async throws
  {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      try await host(room) { try await $0.perform("photo 5,5 \(sun)") }
      let assets = room.path("ada/assets")
      let name = try #require(try FileManager.default.contentsOfDirectory(atPath: assets).first)
      let file = URL(fileURLWithPath: "\(assets)/\(name)")
      var damaged = Data(Demo.photo)
      damaged[50] ^= 1
      try damaged.write(to: file)
      try await host(room) { #expect(await warnings($0).isEmpty) }
      #expect(try Data(contentsOf: file) == Data(Demo.photo))
      let path = try await self.file(room)
      let document = try await BoardDocument.open(at: path, mode: .writing)
      try await document.removeAsset(try #require(try await document.assetIDs().first))
      try await document.close()
      try damaged.write(to: file)
      try await host(room) { #expect(await warnings($0) == ["photo-lost"]) }
      #expect(!FileManager.default.fileExists(atPath: file.path))
    }
  }

  @Test("a board whose task is canceled writes all pending changes, and ends") func cancelled() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      let hosting = await room.configuration(.host(boardName: "board"), "ada")
      let running = Task { try await host.run(hosting) }
      try #require(await host.ready() != nil)
      for number in 0..<20 { try await host.perform("text 0,0 \(number)") }
      // No task waits for this command.
      async let last = host.perform("text 0,0 last")
      running.cancel()
      try await running.value
      _ = try? await last
      let document = try await BoardDocument.open(at: try await file(room), mode: .writing)
      #expect(!document.wasLeftOpen)
      try await document.close()
      #expect(try await BoardFile.read(document.path).objects.count >= 20)
    }
  }

  @Test("a board that is hosted again has the same link, and its name comes from its file") func hostedAgain()
    async throws
  {
    try await withRoom { room in
      let first = try await host(room) { try await $0.perform("text 0,0 one") }
      #expect(first.code != nil)
      let path = try await file(room)
      let document = try await BoardDocument.open(at: path, mode: .writing)
      try await document.rename(to: "Plans")
      try await document.close()
      let renamed = try await host(room, "Plans")
      #expect(renamed.board == first.board && renamed.code == first.code)
      let copy = try await BoardFile.duplicate(path, as: "copy", in: library(room))
      let second = try await host(room, "copy")
      #expect(second.board != first.board && second.code != first.code)
      #expect(try await BoardFile.verify(copy) == [])
      let elsewhere = room.path("elsewhere.whiteboard")
      try FileManager.default.moveItem(atPath: copy, toPath: elsewhere)
      let moved = try await host(room, "", file: elsewhere)
      #expect(moved.board == second.board && moved.boardName == "copy")
      #expect(try await library(room).list().count == 1)
    }
  }

  @Test("a stored thumbnail that could contain a script is created again from the board") func foreignThumbnail()
    async throws
  {
    try await withRoom { room in
      try await host(room) { try await $0.perform("text 0,0 drawn") }
      let own = try #require(try await library(room).list().first)
      let stored = try #require(own.thumbnail)
      #expect(stored.contains(">drawn</text>"))
      #expect(await BoardFile.thumbnail(of: own) == stored)
      let document = try await BoardDocument.open(at: own.path, mode: .writing)
      try await document.setSummary(
        objects: try #require(own.objects),
        people: own.people,
        thumbnail: stored.replacing("</svg>", with: "<script>alert(1)</script></svg>"),
        changed: own.changed
      )
      try await document.close()
      let foreign = try #require(try await library(room).list().first)
      #expect(foreign.thumbnail?.contains("<script>") == true)
      #expect(await BoardFile.thumbnail(of: foreign) == stored)
    }
  }

  @Test("a file that cannot be opened is reported with the right error") func unreadable() async throws {
    try await withRoom { room in
      try await host(room)
      let path = try await file(room)
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      data[60] ^= 0x40
      try data.write(to: URL(fileURLWithPath: path))
      do throws(WhiteboardError) {
        try await ScriptedBoard().run(await room.configuration(.host(boardName: "board"), "ada"))
        Issue.record("the board was hosted")
      } catch {
        #expect(error.code == .badData)
        #expect(error.message.contains("update"))
      }
      // The damaged file could be the file of any board.
      try await host(room, "other") { host in #expect(await warnings(host) == ["unreadable-boards"]) }
      try await host(room, "other") { #expect(await warnings($0) == ["unreadable-boards"]) }
      try await host(room, "other") { host in try await host.perform("text 0,0 one") }
      try await host(room, "other") { #expect(await warnings($0).isEmpty) }
    }
  }

  @Test("board lists are up to date while a board is open") func listed() async throws {
    try await withRoom { room in
      try await host(room) { host in
        for number in 0..<3 { try await host.perform("text 0,0 \(number)") }
        var changes = library(room).watch().makeAsyncIterator()
        while let change = await changes.next() {
          if case .added(let board) = change, board.objects == 3 { break }
          if case .changed(let board) = change, board.objects == 3 { break }
        }
      }
    }
  }
}
