import Foundation
import NIOCore
import Testing

@testable import WhiteboardWeb

@Suite("The page")
struct WebPageTests {
  private static let resources = URL(filePath: #filePath)
    .appending(path: "../../../Sources/WhiteboardWeb/Resources").standardized

  @Test("every file of the page is part of the program, unchanged")
  func files() throws {
    let page = WebPage()
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.resources.path)
      .filter { !$0.hasPrefix(".") }
    #expect(names.count > 10)
    for name in names {
      let bytes = try Data(contentsOf: Self.resources.appending(path: name))
      if name.hasSuffix(".br") {
        let file = try #require(page.file(at: "/" + name.dropLast(3)), "\(name)")
        #expect(file.compressed.map { Data($0.bytes.readableBytesView) } == bytes)
      } else {
        let file = try #require(page.file(at: "/" + name), "\(name)")
        #expect(file.bytes.map { Data($0.readableBytesView) } == bytes)
      }
    }
    #expect(page.paths.count == names.count)
  }

  @Test("without the WebAssembly module, a browser receives at most 100 kB")
  func size() throws {
    let page = WebPage()
    let sizes = page.paths.compactMap { path in
      page.file(at: path).flatMap { $0.bytes == nil ? nil : $0.compressed?.bytes.readableBytes }
    }
    #expect(sizes.count > 10)
    #expect(sizes.reduce(0, +) <= 100_000)
  }
}
