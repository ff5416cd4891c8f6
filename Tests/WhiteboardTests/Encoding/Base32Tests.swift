import Testing

@testable import Whiteboard

@Suite struct Base32Tests {
  @Test func `an incarnation's text has 13 characters and decodes to the same incarnation`() {
    #expect(Incarnation(1).description == "aaaaaaaaaaaac")
    #expect(Incarnation(UInt64.max).description == "7777777777776")
    #expect(Incarnation("aaaaaaaaaaaac") == Incarnation(1))
  }

  @Test(arguments: [
    "", "aaaaaaaaaaaaa", "aaaaaaaaaaaab", "AAAAAAAAAAAAC", "aaaaaaaaaaaa", "aaaaaaaaaaaacc", "aaaaaaaaaaa1c",
    "aaaaaaaaaaaéc",
  ]) func `text that is not the canonical form of an incarnation is refused`(text: String) {
    #expect(Incarnation(text) == nil)
  }

  @Test(arguments: [
    "0-aaaaaaaaaaaac", "01-aaaaaaaaaaaac", "+1-aaaaaaaaaaaac", "-1-aaaaaaaaaaaac", "1aaaaaaaaaaaac",
    "281474976710656-aaaaaaaaaaaac", "1-", "-", "",
  ]) func `text that is not the canonical form of an object id is refused`(text: String) {
    #expect(ObjectID(text) == nil)
  }

  @Test func `the text of an object id decodes to the same id`() {
    let id = ObjectID(Dot(Incarnation(7), 281_474_976_710_655))
    #expect(ObjectID(id.description) == id)
  }
}
