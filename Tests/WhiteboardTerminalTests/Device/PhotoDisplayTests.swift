import Testing
import Whiteboard

@testable import WhiteboardTerminal

struct PhotoDisplayTests {
  @Test("a found photo is read once, and again if reading it failed") func failed() throws {
    let id = try #require(AssetID([UInt8](repeating: 1, count: 32)))
    var photos = PhotoDisplay()
    let first = photos.found(id, byCells: true)
    let second = photos.found(id, byCells: true)
    #expect(first?.asset == id && second == nil)
    photos.fail(id)
    let third = photos.found(id, byCells: true)
    #expect(third?.asset == id)
  }
}
