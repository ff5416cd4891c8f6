import Testing

@testable import WhiteboardTerminal

@Suite("Pasted text") struct PastedTextTests {
  @Test(
    "the path of a photo becomes a photo, and other text becomes text",
    arguments: [
      ("/tmp/a b.PNG", PastedText.Content.photo(path: "/tmp/a b.PNG")),
      ("'/tmp/a b.jpg' ", .photo(path: "/tmp/a b.jpg")), (#"/tmp/a\ b.jpeg"#, .photo(path: "/tmp/a b.jpeg")),
      (#"file:///tmp/a\ b.jpg"#, .photo(path: "/tmp/a b.jpg")), ("a.png", .text("a.png")),
      ("/tmp/a.txt", .text("/tmp/a.txt")), ("/a\n/b.png", .text("/a\n/b.png")), (" one\r\ntwo\n", .text("one\ntwo")),
    ]
  ) func content(_ text: String, _ content: PastedText.Content) { #expect(PastedText(text).content == content) }

  @Test("a blank paste is ignored, and a long one is cut") func limits() {
    #expect(PastedText(" \r\n").content == nil)
    #expect(PastedText(String(repeating: "x", count: 10_001)).text.count == 10_000)
  }
}
