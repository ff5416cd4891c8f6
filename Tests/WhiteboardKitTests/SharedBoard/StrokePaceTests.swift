import Testing

@testable import WhiteboardKit

@Suite struct StrokePaceTests {
  @Test("the first point is due at once, the last at the end, and none is due twice") func pace() {
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
