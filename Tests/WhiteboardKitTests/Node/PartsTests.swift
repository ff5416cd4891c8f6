import Testing

@testable import WhiteboardKit

@Suite
struct ReferenceResolverTests {
  private func book() -> ReferenceResolver<Int> {
    var book = ReferenceResolver<Int>()
    book.add(id: "abcdefgh", names: ["anna"], value: 1)
    book.add(id: "abcdxyzw", names: ["Ben"], value: 2)
    book.add(id: "qrstuvwx", names: ["ben", "abcdefgh"], value: 3)
    return book
  }

  private func find(_ word: String) -> Result<Int, CommandError> {
    do throws(CommandError) {
      return .success(try book().find(word, what: "peer", missing: .noSuchPeer))
    } catch {
      return .failure(error)
    }
  }

  @Test("a whole id has precedence over an id prefix, and that over a name")
  func order() throws {
    #expect(try find("abcdefgh").get() == 1)
    #expect(try find("ABCDX").get() == 2)
    #expect(try find("anna").get() == 1)
    #expect(try find("Ben").get() == 2)
    #expect(try find("ben").get() == 3)
  }

  @Test("ambiguous and unknown names have different errors")
  func failures() {
    #expect(throws: CommandError.self) { try find("abcd").get() }
    guard case .failure(let both) = find("abcd"), case .failure(let none) = find("zoe"),
      case .failure(let short) = find("abc"), case .failure(let names) = find("BEN")
    else {
      Issue.record("something was found")
      return
    }
    #expect(both.code == .ambiguous)
    #expect(names.code == .ambiguous)
    #expect(none.code == .noSuchPeer)
    #expect(none.message.contains("anna (abcdefgh)"))
    #expect(short.code == .noSuchPeer)
  }
}

@Suite
struct StrokePaceTests {
  @Test("the first point is due at once, the last at the end, and none is due twice")
  func pace() {
    let pace = StrokePace(count: 101, seconds: 2)
    #expect(pace.due(after: .zero) == 1)
    #expect(pace.due(after: .seconds(1)) == 51)
    #expect(pace.due(after: .milliseconds(1_999)) == 100)
    #expect(pace.due(after: .seconds(2)) == 101)
    #expect(pace.due(after: .seconds(9)) == 101)
    var last = 0
    for milliseconds in 0...2_100 {
      let due = pace.due(after: .milliseconds(milliseconds))
      #expect(due >= last)
      last = due
    }
    #expect(StrokePace(count: 1, seconds: 5).due(after: .zero) == 1)
  }
}
