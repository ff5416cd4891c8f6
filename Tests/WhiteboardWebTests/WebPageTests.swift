import Foundation
import NIOCore
import Testing

@testable import WhiteboardWeb

@Suite("The page") struct WebPageTests {
  private static let resources = URL(filePath: #filePath).appending(
    path: "../../../Sources/FrontEnds/WhiteboardWeb/Resources"
  )
  .standardized
  private static func isCode(_ name: String) -> Bool { name.hasSuffix(".mjs") || name.hasSuffix(".css") }

  @Test("every file of the page is part of the program; scripts have no comments") func files() throws {
    let page = WebPage()
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.resources.path).filter { !$0.hasPrefix(".") }
    #expect(names.count > 10)
    for name in names {
      let bytes = try Data(contentsOf: Self.resources.appending(path: name))
      if name.hasSuffix(".br") {
        let file = try #require(page.file(at: "/" + name.dropLast(3)), "\(name)")
        #expect(file.compressed.map { Data($0.bytes.readableBytesView) } == bytes)
      } else {
        let file = try #require(page.file(at: "/" + name), "\(name)")
        let sent = file.bytes.map { Data($0.readableBytesView) }
        #expect(sent == (Self.isCode(name) ? Data(WebPage.shortened(bytes)) : bytes))
      }
    }
    #expect(page.paths.count == names.count)
  }

  @Test("a shortened script keeps its code and its lines") func shortened() {
    let script = """
      /** One line. */
      /* Another. */
      const a = "//"; // why
        // Only a comment.
        /**
         * @param b `//`
         */
        const c = `/**  // `;

      """
    let expected = """


      const a = "//"; // why




      const c = `/**  // `;

      """
    #expect(String(decoding: WebPage.shortened(script.utf8), as: UTF8.self) == expected)
  }

  @Test("only comments and indentation are left out of the scripts and the style sheet") func onlyComments() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.resources.path).filter(Self.isCode)
    var count = 0
    for name in names {
      let bytes = try Data(contentsOf: Self.resources.appending(path: name))
      let lines = [bytes, Data(WebPage.shortened(bytes))].map {
        String(decoding: $0, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      }
      #expect(lines[0].count == lines[1].count, "\(name)")
      for (line, sent) in zip(lines[0], lines[1]) {
        let text = line.drop { $0 == " " }
        // No string continues on the next line, because its indentation, or a line that looks like a comment, would be
        // left out.
        #expect(sent.count { $0 == "`" }.isMultiple(of: 2) && sent.last != "\\", "\(name): \(line)")
        guard text != sent else { continue }
        count += 1
        #expect(sent.isEmpty && ["//", "/*", "*"].contains { text.hasPrefix($0) }, "\(name): \(line)")
        #expect(!text.contains("*/") || text.hasSuffix("*/"), "\(name): \(line)")
      }
    }
    #expect(count > 100)
  }

  @Test("without the WebAssembly module, a browser receives at most 147 kB") func size() throws {
    let page = WebPage()
    let sizes = page.paths.compactMap { path in
      page.file(at: path).flatMap { $0.bytes == nil ? nil : $0.compressed?.bytes.readableBytes }
    }
    #expect(sizes.count > 10)
    #expect(sizes.reduce(0, +) <= 147_000)
  }
}
