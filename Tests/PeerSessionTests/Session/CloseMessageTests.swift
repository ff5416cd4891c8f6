import PeerWire
import Testing

@testable import PeerSession

@Suite("[CLS-5] the messages of CLOSE") struct CloseMessageTests {
  /// Returns whether a text is a sentence, and not the debug description of a value.
  private func isSentence(_ text: String) -> Bool {
    text.first?.isUppercase == true && text.hasSuffix(".") && !text.contains("..")
      && !text.contains { $0 == "(" || $0 == "[" || $0 == "\n" } && text.utf8.count <= 512
  }

  @Test("each error has a message in sentences") func sentences() {
    var messages: [String] = []
    for type in FrameType.allCases {
      messages.append(CloseMessage.unexpected(type))
      for error in [ControlMessageError.notJSON, .missing("a"), .wrongType("a"), .outOfRange("a")] {
        messages.append(CloseMessage.invalid(type, error))
      }
    }
    let parts: [MessagePart.DecodingError] = [.malformed, .unknownFlags(9), .zeroSequence, .tooLarge(99), .empty]
    messages += parts.map { CloseMessage.invalid($0) }
    let assembly: [MessageAssembler.AssemblyError] = [
      .skipped(expected: 1, found: 3), .unexpectedFirst, .missingFirst, .tooManyBytes, .tooFewBytes,
    ]
    messages += assembly.map { CloseMessage.invalid($0) }
    let relay: [RelayMessage.DecodingError] = [.unknownKind(nil), .unknownKind(7), .malformed]
    messages += relay.map { CloseMessage.invalid($0) }
    messages += [
      CloseMessage.invalidRoute(RelayedPeers.Violation.number(3)),
      CloseMessage.invalidRoute(RelayedPeers.Violation.peer),
      CloseMessage.invalidRoute(RouteTable.Violation.tooManyWishes),
      CloseMessage.invalidRoute(RouteTable.Violation.nonsense),
    ]
    let frames: [FrameError] = [.malformedLength, .tooLarge(length: 9, limit: 8), .unknownType(0x7F)]
    messages += frames.map { LinkViolation($0).message }
    #expect(messages.count > 150)
    for message in messages { #expect(isSentence(message), "\(message)") }
  }

  @Test("frames have the names of the specification") func names() {
    #expect(FrameType.hello.name == "HELLO")
    #expect(FrameType.codeProof.name == "CODE-PROOF")
    #expect(FrameType.bulkRequest.name == "BULK-REQUEST")
    let message = CloseMessage.invalid(.hello, .outOfRange("port"))
    #expect(message == "The HELLO frame is not valid: the value of \"port\" is out of range.")
  }
}
