import PeerCore
import Testing

struct UntrustedTextTests {
  @Test(
    "[DSC-15] text is displayed without its dangerous characters",
    arguments: DiscoveryVectors.all.displayed
  )
  func displays(_ vector: DiscoveryVectors.Displayed) {
    let text = UntrustedText(vector.text).displayed(width: vector.width)
    #expect(
      text.unicodeScalars.elementsEqual(vector.displayed.unicodeScalars),
      "\(text.debugDescription), not \(vector.displayed.debugDescription)"
    )
  }

  @Test("[DSC-15] no way of printing shows the dangerous characters of a text")
  func printsHarmless() {
    let text = UntrustedText("\u{1b}[2J\u{7}\u{202e}evil")
    struct Holder {
      let text: UntrustedText
    }
    var dumped = ""
    dump(Holder(text: text), to: &dumped)
    var printed = ""
    print(text, [text], Optional(text) as Any, to: &printed)
    for shown in [
      "\(text)", "\(Holder(text: text))", "\([text])", "\(["k": text])", String(describing: text),
      String(reflecting: text), String(reflecting: Holder(text: text)), dumped, printed,
    ] {
      #expect(shown.contains("[2Jevil"), "\(shown.debugDescription)")
      #expect(!shown.unicodeScalars.contains { "\u{1b}\u{7}\u{202e}".unicodeScalars.contains($0) })
    }
    #expect(text.raw == "\u{1b}[2J\u{7}\u{202e}evil")
  }

  @Test("[DSC-15] a very long text is cut, and read only as far as needed")
  func cutsLong() {
    let text = UntrustedText(String(repeating: "ab ", count: 100_000)).displayed
    #expect((60...64).contains(text.count) && text.hasSuffix("…"))
  }

  @Test("[DSC-15] of all Unicode scalars, only harmless ones are displayed")
  func displaysNoControl() {
    var shown = 0
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = UntrustedText("x\(scalar)y").displayed
      shown += text.unicodeScalars.count - 2
      for scalar in text.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
          .paragraphSeparator:
          Issue.record("\(value) is displayed")
        default:
          break
        }
      }
    }
    #expect(shown > 100_000)
  }
}
