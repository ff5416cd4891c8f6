import Testing

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Commands of the terminal") struct PendingRequestsTests {
  @Test("a request has its own id, and is pending until it is answered") func ids() throws {
    var requests = PendingRequests()
    let first = try requests.request(.undo)
    let second = try requests.request(.redo)
    #expect(first.request == .number(1) && second.request == .number(2))
    requests.finish(1)
    #expect(!requests.isPending(1) && requests.isPending(2) && requests.count == 1)
  }

  @Test("a command outside its limits is not sent, and is not pending") func limits() {
    var requests = PendingRequests()
    let long = String(repeating: "a", count: CommandLimits.maximumTextLength + 1)
    for command: Command in [.say(words: long), .delete([]), .scale([.last], factor: 5_000)] {
      let effects = requests.issue(command)
      guard case .problem? = effects.first else {
        Issue.record("\(command) was sent")
        continue
      }
    }
    #expect(requests.count == 0)
    let effects = requests.issue(.say(words: "a\r\nb"))
    let sent = CommandRequest(.say(words: "a\nb"), request: .number(1))
    #expect(effects == [.command(sent)])
  }

  @Test(
    "coordinates are rounded to hundredths",
    arguments: [(1.234, 1.23), (-0.001, 0), (2.005, 2.01), (33_554_431.999, 33_554_432)]
  ) func rounding(_ value: Double, _ rounded: Double) throws {
    #expect(value.inHundredths == rounded && value.inHundredths.sign == rounded.sign)
    let point = try? BoardPoint(rounding: Point(x: value, y: 0))
    #expect((point == nil) == (rounded >= BoardPoint.bound))
  }
}
