import Testing

@testable import Whiteboard

@Suite struct LocalAuthorTests {
  private func author(_ next: [UInt64] = []) -> LocalAuthor {
    var next = next.map { Incarnation($0) }.makeIterator()
    return LocalAuthor(
      RandomEditing.member(1),
      incarnation: Incarnation(1),
      newIncarnation: { next.next() ?? Incarnation(99) }
    )
  }

  private func batch(_ author: UInt64, first: UInt64, count: Int) throws -> Batch {
    let ids = (first..<first + UInt64(count)).map { ObjectID(Dot(Incarnation(author), $0)) }
    return try Batch(
      author: Incarnation(author),
      firstSequence: first,
      time: HybridTime(1),
      operations: ids.map { Operation($0, .kind, .unsigned(ObjectKind.text.rawValue)) }
    )
  }

  @Test("the next sequence number follows all edits of the current incarnation") func sequences() throws {
    var author = author()
    #expect(author.nextSequence == 1)
    author.record(try batch(1, first: 1, count: 3))
    #expect(author.nextSequence == 4)
    author.record(try batch(7, first: 5, count: 1))
    #expect(author.incarnation == Incarnation(7) && author.nextSequence == 6)
    #expect(author.isOwn(Incarnation(1)) && !author.isOwn(Incarnation(2)))
  }

  @Test("[BRD-25] dots that the author never wrote claim its incarnation") func claims() throws {
    var author = author([1, 2, 3])
    var context = Context()
    #expect(!author.isClaimed(in: context))
    context.insert(1...2, of: Incarnation(1))
    #expect(author.isClaimed(in: context))
    author.record(try batch(1, first: 1, count: 2))
    #expect(!author.isClaimed(in: context))
    context.insert(3...3, of: Incarnation(1))
    context.insert(1...1, of: Incarnation(2))
    author.beginIncarnation(outside: context)
    #expect(author.incarnation == Incarnation(3) && !author.isClaimed(in: context))
    #expect(author.nextSequence == 1 && author.isOwn(Incarnation(1)))
    #expect(!author.isOwn(Incarnation(2)))
  }
}
