import CommandLines
import Foundation
import PeerCore
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardKit

/// `export` and `import`, run by real boards.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FileCommandTests: BoardSuite {
  private func withHostRoom(
    pages: (any PageWriter)? = nil,
    photos: (any PhotoConverter)? = nil,
    _ body: (BoardRoom, ScriptedBoard) async throws -> Void
  ) async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.pages = pages
        hosting.photos = photos
        let configuration = hosting
        group.addTask { try await host.run(configuration) }
        if await host.ready() == nil { try await group.next() }
        try await body(room, host)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  private func objects(_ scriptedBoard: ScriptedBoard) async throws -> [ObjectSnapshot] {
    try await scriptedBoard.perform("objects")
    var last: [ReportedObject]?
    for case .answer(.objects(let list), _) in await scriptedBoard.events { last = Array(list) }
    return try #require(last).map(\.snapshot)
  }

  private static let png = Base64.decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
  )

  @Test("a board is exported as JSON and imported in one undo step, photos included") func roundTrip() async throws {
    try await withHostRoom { room, host in
      let photo = room.path("p.png")
      try Data(#require(Self.png)).write(to: URL(fileURLWithPath: photo))
      try await host.perform("text 0,0 \"hello\" color=#ff0000 as=t")
      try await host.perform("stroke 0,0 10,10 20,0 as=s")
      try await host.perform("photo 50,50 \(photo)")
      try await host.perform("group t s")
      let file = room.path("board.json")
      let done = try await host.perform("export \(file)")
      #expect(done.file == file && done.count == 3)
      let before = try await objects(host)
      try await host.perform("delete \(before.map(\.id.description).joined(separator: " "))")
      let taken = try await host.perform("import \(file)")
      #expect(taken.count == 3 && taken.ids?.count == 3 && taken.hasChanged == true)
      let after = try await objects(host)
      #expect(after.map(\.kind) == before.map(\.kind))
      #expect(after.map(\.centerPosition) == before.map(\.centerPosition))
      #expect(after.map(\.points) == before.map(\.points))
      #expect(after.map(\.asset) == before.map(\.asset))
      #expect(after[2].isAssetAvailable == true)
      #expect(after[0].groups.count == 1 && after[0].groups == after[1].groups)
      #expect(try await host.perform("undo").step == "import")
      #expect(try await objects(host).isEmpty)
      try await host.perform("import \(file) at=1000,1000")
      #expect(try await objects(host).allSatisfy { $0.centerPosition.x > 900 })
    }
  }

  @Test("copied objects can be pasted any number of times, each time as one undo step") func copies() async throws {
    try await withHostRoom { _, host in
      #expect(await error(host, "paste") == .refused)
      try await host.perform("set title Plans")
      try await host.perform("text 0,0 one as=one")
      try await host.perform("stroke 0,0 10,10 as=two")
      try await host.perform("text 50,0 three")
      try await host.perform("group one two as=both")
      #expect(try await host.perform("copy one two").ids?.count == 2)
      try await host.perform("delete one two")
      try await host.perform("set title Others")
      let pasted = try await host.perform("paste 500,500")
      #expect(pasted.ids?.count == 2)
      try await host.perform("paste")
      let after = try await objects(host)
      #expect(after.count == 5 && after.count { $0.centerPosition.x > 400 } == 2)
      #expect(after.count { !$0.groups.isEmpty } == 4, "copies of a group make groups")
      #expect(try await host.perform("undo").hasChanged == true)
      #expect(try await objects(host).count == 3)
      try await host.perform("paste 500,500")
      let places = try await objects(host).map(\.centerPosition)
      #expect(Set(places).count == 5, "a second copy at one place is beside the first one")
      try await host.perform("settings")
      let titles = await host.events.compactMap { event in
        if case .answer(.settings(let answer), _) = event { answer.title } else { nil }
      }
      #expect(titles.last == "Others")
    }
  }

  @Test("an existing file needs `force`; an unknown or unsupported format is refused") func files() async throws {
    try await withHostRoom { room, host in
      try await host.perform("text 0,0 hi")
      try await host.perform("text 900,900 far")
      let file = room.path("a.svg")
      #expect(try await host.perform("export \(file) region=-50,-50,100,100").count == 1)
      let svg = try String(contentsOfFile: file, encoding: .utf8)
      #expect(svg.contains(">hi<") && !svg.contains(">far<"))
      #expect(await error(host, "export \(file)") == .fileUnwritable)
      #expect(try await host.perform("export \(file) force").count == 2)
      #expect(await error(host, "export \(room.path("a.doc"))") == .badArgument)
      #expect(await error(host, "export \(room.path("a.png"))") == .refused)
      #expect(await error(host, "export \(room.path("none/a.svg"))") == .fileUnwritable)
      #expect(await error(host, "export \(room.directory).svg/.svg") == .fileUnwritable)
      let left = try FileManager.default.contentsOfDirectory(atPath: room.directory)
      #expect(!left.contains { $0.hasSuffix(".part") })
    }
  }

  @Test("a frame is exported alone, by its name or id; a PDF has a page for each frame") func frames() async throws {
    struct Pages: PageWriter {
      func png(_ picture: BoardPicture, scale: Double?) throws(ExportError) -> ExportedFile { throw .page("") }

      func pdf(_ pictures: [BoardPicture], on paper: PaperSize?) throws(ExportError) -> ExportedFile {
        ExportedFile(bytes: Array(pictures.map { "\($0.region.center.x)" }.joined(separator: " ").utf8))
      }
    }
    try await withHostRoom(pages: Pages()) { room, host in
      let (svg, pdf) = (room.path("a.svg"), room.path("a.pdf"))
      try await host.perform("text 0,0 first")
      #expect(await error(host, "export \(pdf) frames") == .refused)
      try await host.perform(#"frame 0,0 size=200,100 label="Sprint one""#)
      try await host.perform("frame 500,0 size=200,100 label=Two")
      let id = try #require(try await objects(host).last).id
      try await host.perform("text 500,0 second")
      try await host.perform("text 900,0 outside")
      for (name, shown, hidden) in [(#""sprint one""#, "first", "second"), ("\(id)", "second", "first")] {
        try await host.perform("export \(svg) frame=\(name) force")
        let text = try String(contentsOfFile: svg, encoding: .utf8)
        #expect(text.contains(">\(shown)<") && !text.contains(">\(hidden)<") && !text.contains("Sprint"))
        #expect(text.contains("width=\"200\" height=\"100\"") && !text.contains("<path"))
      }
      #expect(await error(host, "export \(svg) frame=Three force") == .noSuchObject)
      #expect(await error(host, "export \(svg) frames force") == .refused)
      try await host.perform("export \(pdf) frames")
      #expect(try String(contentsOfFile: pdf, encoding: .utf8) == "0.0 500.0")
      let told = await host.sees { event in
        guard case .news(.warning(let remark)) = event else { return false }
        return remark.message == "\"\(pdf)\": 1 object is in no frame and not in the file"
      }
      #expect(told)
    }
  }

  @Test("pages with pixels come from the program's page writer") func pageWriter() async throws {
    struct Pages: PageWriter {
      func png(_ picture: BoardPicture, scale: Double?) throws(ExportError) -> ExportedFile {
        ExportedFile(bytes: Array("png \(picture.items.count) \(scale ?? 0)".utf8), warnings: ["no font has 漢"])
      }

      func pdf(_ pictures: [BoardPicture], on paper: PaperSize?) throws(ExportError) -> ExportedFile {
        throw .page("too big")
      }
    }
    try await withHostRoom(pages: Pages()) { room, host in
      try await host.perform("text 0,0 hi")
      let file = room.path("a.png")
      try await host.perform("export \(file) scale=2.5")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "png 1 2.5")
      let told = await host.sees { event in
        guard case .news(.warning(let remark)) = event else { return false }
        return remark.code == "export" && remark.message == "\"\(file)\": no font has 漢"
      }
      #expect(told)
      #expect(await error(host, "export \(room.path("a.pdf"))") == .refused)
    }
  }

  @Test("images and Excalidraw drawings are imported; omissions are reported, garbage is refused") func imports()
    async throws
  {
    try await withHostRoom { room, host in
      let photo = room.path("p.png")
      try Data(#require(Self.png)).write(to: URL(fileURLWithPath: photo))
      #expect(try await host.perform("import \(photo) at=7,8").count == 1)
      #expect(try await objects(host).map(\.centerPosition) == [Point(x: 7, y: 8)])
      let drawing = room.path("d.excalidraw")
      let text =
        #"{"type":"excalidraw","elements":[{"type":"hologram","x":0,"y":0},"#
        + #"{"type":"rectangle","x":0,"y":0,"width":10,"height":20}]}"#
      try text.write(toFile: drawing, atomically: true, encoding: .utf8)
      #expect(try await host.perform("import \(drawing)").count == 1)
      let told = await host.sees { event in
        guard case .news(.warning(let remark)) = event else { return false }
        return remark.code == "import" && remark.message.contains("hologram")
      }
      #expect(told)
      let nonsense = room.path("n.json")
      try "{]".write(toFile: nonsense, atomically: true, encoding: .utf8)
      #expect(await error(host, "import \(nonsense)") == .fileUnreadable)
      #expect(await error(host, "import \(room.path("none"))") == .fileUnreadable)
      #expect(await error(host, "import \(room.directory)") == .fileUnreadable)
      #expect(try await objects(host).count == 2)
    }
  }

  /// The header of a JPEG of 40 by 20 pixels without any pixels, with an orientation of a quarter turn.
  private static let sideways: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xE1, 0, 30] + Array("Exif\0\0".utf8) + [
      0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0,
    ] + [0xFF, 0xC0, 0, 11, 8, 0, 20, 0, 40, 1, 1, 0x11, 0] + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0, 0, 0xFF, 0xD9]

  @Test("a photo with a sideways orientation has the size in which it is shown") func sideways() async throws {
    try await withHostRoom { room, host in
      let photo = room.path("p.jpg")
      try Data(Self.sideways).write(to: URL(fileURLWithPath: photo))
      try await host.perform("photo 0,0 \(photo)")
      try await host.perform("import \(photo)")
      #expect(try await objects(host).map(\.size) == Array(repeating: Size(width: 100, height: 200), count: 2))
    }
  }

  @Test("a WebP image becomes a photo if the program can convert it") func webP() async throws {
    struct Photos: PhotoConverter {
      func photo(of bytes: [UInt8], mayCompress: Bool) throws(ConversionError) -> [UInt8] {
        guard bytes.count > 12, let png = FileCommandTests.png else {
          throw ConversionError("it is \u{1B}damaged")
        }
        return png
      }
    }
    let webP = Array("RIFF\0\0\0\0WEBPVP8 ".utf8)
    for photos in [nil, Photos()] as [(any PhotoConverter)?] {
      try await withHostRoom(photos: photos) { room, host in
        let (whole, damaged) = (room.path("whole.webp"), room.path("damaged.webp"))
        try Data(webP).write(to: URL(fileURLWithPath: whole))
        try Data(webP.prefix(12)).write(to: URL(fileURLWithPath: damaged))
        for verb in ["photo 0,0", "import"] {
          #expect(await error(host, "\(verb) \(damaged)") == .notAPhoto)
          if photos == nil {
            #expect(await error(host, "\(verb) \(whole)") == .notAPhoto)
          } else {
            try await host.perform("\(verb) \(whole)")
          }
        }
        #expect(try await objects(host).count == (photos == nil ? 0 : 2))
      }
    }
  }

  /// A converter that computes until the test releases it.
  private final class SlowConverter: PhotoConverter {
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let hasReturned = Locked(false)
    /// The ends of a pipe; the converter returns when the second end is closed.
    private let ends: [Int32]

    init() {
      var ends: [Int32] = [-1, -1]
      precondition(pipe(&ends) == 0, "a pipe can be created")
      self.ends = ends
    }

    deinit { close(ends[0]) }

    func release() { close(ends[1]) }

    func photo(of bytes: [UInt8], mayCompress: Bool) throws(ConversionError) -> [UInt8] {
      begin.yield()
      var waiting = [pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)]
      _ = poll(&waiting, 1, 60_000)
      hasReturned.withLock { $0 = true }
      return bytes
    }
  }

  @Test(
    "an import that computes does not delay the end of the program, and changes nothing",
    arguments: ["import", "photo 0,0"]
  )
  func endDuringImport(verb: String) async throws {
    let converter = SlowConverter()
    try await withHostRoom(photos: converter) { room, host in
      let file = room.path("p.png")
      try Data(#require(Self.png)).write(to: URL(fileURLWithPath: file))
      async let answer = error(host, "\(verb) \(file)")
      for await _ in converter.begun { break }
      await host.end()
      #expect(await answer == .ending)
      #expect(converter.hasReturned.withLock { !$0 })
    }
    #expect(converter.hasReturned.withLock { !$0 })
    converter.release()
  }

  @Test("a board that closes during a large import closes at once, and keeps none of its objects") func endOfParts()
    async throws
  {
    try await withRoom { room in
      let file = room.path("large.excalidraw")
      let elements = (0..<6_000).map {
        #"{"type":"rectangle","id":"\#($0)","x":\#($0 % 100 * 50),"y":\#($0 / 100 * 50),"width":40,"height":40}"#
      }
      try Data(#"{"type":"excalidraw","elements":[\#(elements.joined(separator: ","))]}"#.utf8).write(
        to: URL(fileURLWithPath: file)
      )
      let hosting = await room.configuration(.host(boardName: "board"), "ada")
      func run(_ host: ScriptedBoard, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await host.run(hosting) }
          if await host.ready() == nil { try await group.next() }
          try await body()
          await host.end()
          try await group.waitForAll()
        }
      }
      // The sink accepts no event after the first new rectangle until the board closes, so the import cannot complete.
      let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
      let (ended, ending) = AsyncStream.makeStream(of: Void.self)
      let isFirst = Locked<Void?>(())
      let host = ScriptedBoard { event in
        guard case .change(.added(let object, _), _) = event, object.kind == .drawing,
          isFirst.withLock({ $0.take() }) != nil
        else { return }
        beginning.yield()
        for await _ in ended { break }
      }
      try await run(host) {
        try await host.perform("text 0,0 before")
        async let answer = self.error(host, "import \(file)")
        for await _ in begun { break }
        await host.end()
        ending.yield()
        #expect(await answer == .ending)
      }
      let again = ScriptedBoard()
      try await run(again) {
        let objects = try await self.objects(again)
        #expect(objects.map(\.text) == ["before"])
      }
    }
  }

  @Test("of an animated WebP, the first picture is imported, with a warning") func animatedWebP() async throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    let file = folder.appendingPathComponent("animated.webp").path
    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
    #expect(OtherPicture(of: bytes) == .webp && OtherPicture.hasMorePictures(bytes))
    for length in 0..<40 { #expect(OtherPicture(of: Array(bytes.prefix(length))) != .webp || length > 20) }
    try await withHostRoom { _, host in
      try await host.perform("import \(file)")
      #expect(try await objects(host).map(\.asset?.format) == [.png])
      let warnings = await host.events.compactMap { event -> String? in
        if case .news(.warning(let warning)) = event { warning.message } else { nil }
      }
      #expect(warnings.contains { $0.hasSuffix("only the first picture of the file is on the board") })
    }
  }

  @Test("a converted picture keeps its colors", arguments: ["bmp", "avif", "heic", "tiff", "gif"])
  func colors(format: String) throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    let bytes = try Array(Data(contentsOf: folder.appendingPathComponent("picture.\(format)")))
    let png = try #require(OtherPicture(of: bytes)).png(bytes)
    let printed = try ChildProgram.withFolder { (folder) throws(ConversionError) in
      try? Data(png).write(to: URL(fileURLWithPath: "\(folder)/picture.png"))
      return try ChildProgram(name: "vips", package: "libvips-tools").run(
        ["getpoint", "picture.png", "90", "60"],
        in: folder
      )
    }
    let blue = printed.split(separator: " ").compactMap { Double($0.filter { $0 != "\n" }) }
    #expect(blue.count == 3 && zip(blue, [0.0, 0.0, 200.0]).allSatisfy { abs($0 - $1) < 4 }, "\(printed)")
  }

  @Test("an animation or a file of several pages is recognized") func morePictures() {
    let picture: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
    let header = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
    let control: [UInt8] = [0x21, 0xF9, 4, 0, 10, 0, 0, 0]
    #expect(!OtherPicture.hasMorePictures(header + control + picture + [0x3B]))
    #expect(OtherPicture.hasMorePictures(header + control + picture + control + picture + [0x3B]))
    #expect(!OtherPicture.hasMorePictures(header + control))
    func tiff(next: UInt8) -> [UInt8] {
      let entry = Array(repeating: UInt8(0), count: 12)
      return Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0] + entry + [next, 0, 0, 0]
    }
    #expect(!OtherPicture.hasMorePictures(tiff(next: 0)) && OtherPicture.hasMorePictures(tiff(next: 26)))
    func png(_ chunk: String) -> [UInt8] {
      PhotoHeader.pngBeginning + [0, 0, 0, 0] + Array(chunk.utf8) + [0, 0, 0, 0]
    }
    #expect(OtherPicture.hasMorePictures(png("acTL")) && !OtherPicture.hasMorePictures(png("IDAT")))
    for length in 0..<40 {
      for whole in [header + control + picture, tiff(next: 9)] {
        _ = OtherPicture.hasMorePictures(Array(whole.prefix(length)))
      }
    }
  }

  @Test("pictures of other formats are converted", arguments: ["bmp", "svg", "avif", "heic", "tiff", "gif"])
  func otherPictures(format: String) async throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Cases")
    let file = folder.appendingPathComponent("picture.\(format)").path
    try await withHostRoom { room, host in
      try await host.perform("import \(file)")
      #expect(try await objects(host).map { [$0.size.width.rounded(), $0.size.height.rounded()] } == [[200, 133]])
      let damaged = room.path("damaged.\(format)")
      let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      try bytes.prefix(bytes.count / 4).write(to: URL(fileURLWithPath: damaged))
      #expect(await error(host, "photo 0,0 \(damaged)") == .notAPhoto)
      #expect(try await objects(host).count == 1)
    }
  }

  /// Returns a PDF with pages of these sizes, in points.
  private func pdf(_ sizes: [(Int, Int)]) -> Data {
    let kids = sizes.indices.map { "\($0 + 3) 0 R" }.joined(separator: " ")
    var text = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    text += "2 0 obj<</Type/Pages/Kids[\(kids)]/Count \(sizes.count)>>endobj\n"
    for (index, size) in sizes.enumerated() {
      text += "\(index + 3) 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 \(size.0) \(size.1)]>>endobj\n"
    }
    return Data((text + "trailer<</Root 1 0 R>>\n%%EOF\n").utf8)
  }

  @Test("each page of a PDF becomes a picture of its size in a frame, side by side") func pages() async throws {
    try await withHostRoom { room, host in
      let file = room.path("two.pdf")
      try pdf([(72, 144), (720, 72), (14400, 7200)]).write(to: URL(fileURLWithPath: file))
      #expect(try await host.perform("import \(file)").count == 6)
      let all = try await objects(host)
      let (pages, frames) = (all.filter { $0.kind == .photo }, all.filter { $0.form == .frame })
      #expect(frames.map(\.text) == ["two.pdf, page 1", "two.pdf, page 2", "two.pdf, page 3"])
      #expect(frames.map(\.size) == pages.map(\.size) && pages.map(\.frame) == frames.map { $0.id })
      #expect(pages.map { [$0.size.width, $0.size.height] } == [[96, 192], [960, 96], [19200, 9600]])
      #expect(pages.map { [$0.centerPosition.x, $0.centerPosition.y] } == [[48, 96], [616, 48], [10736, 4800]])
      try await host.perform("undo")
      #expect(try await objects(host).isEmpty)
      let damaged = room.path("damaged.pdf")
      try Data("%PDF-1.4\nnothing".utf8).write(to: URL(fileURLWithPath: damaged))
      #expect(await error(host, "import \(damaged)") == .fileUnreadable)
      let board = try PDFPages.read(Array(pdf([(7, 7), (7, 7), (7, 7)])), named: "a", nil, limit: 2)
      #expect(board.objects.count == 4 && board.warnings == ["pages after page 2 are left out: 1"])
    }
  }

  @Test("a missing converter is named with its package") func missing() {
    let program = ChildProgram(name: "no-such-program", package: "some-package")
    let error = #expect(throws: ConversionError.self) {
      try ChildProgram.withFolder { (folder) throws(ConversionError) in try program.run([], in: folder) }
    }
    #expect(error?.message == "the program no-such-program is missing; install the Debian package some-package")
  }

  @Test("a converter inherits no connection of the program") func inherited() throws {
    let null = open("/dev/null", O_RDONLY)
    let inherited = fcntl(null, F_DUPFD, 500)
    try #require(null >= 0 && inherited >= 500)
    defer {
      close(null)
      close(inherited)
    }
    let printed = try ChildProgram.withFolder { (folder) throws(ConversionError) in
      try ChildProgram(name: "ls", package: "coreutils").run(["/proc/self/fd"], in: folder)
    }
    let open = printed.split(separator: "\n").compactMap { Int32($0) }
    #expect(open.contains(3) && !open.contains(inherited), "\(printed)")
  }

  @Test("an open board is also exported from its file") func keptBoard() async throws {
    try await withHostRoom { room, host in
      try await host.perform("text 0,0 kept")
      let boards = room.path("ada/boards")
      let file = try #require(
        try FileManager.default.contentsOfDirectory(atPath: boards).first { $0.hasSuffix(".whiteboard") }
      )
      let export = try await BoardFile.export("\(boards)/\(file)")
      #expect(export.snapshots.map(\.text) == ["kept"])
      #expect(export.name == "board")
    }
  }
}
