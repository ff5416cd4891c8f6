import Testing

@testable import Whiteboard

@Suite struct FrontierTests {
  @Test("[BRD-13] the greatest z index counts, in any order of arrival") func zIndexes() {
    var frontier = Frontier()
    let low = ZIndex.above(nil, jitter: 1)
    let high = ZIndex.above(low, jitter: 2)
    for bytes in [high, low] {
      frontier.record(.zIndex, .bytes(bytes), at: HybridTime(1))
      #expect(frontier.zIndex == high)
    }
    let longest = [UInt8](repeating: 0xFF, count: BoardLimits.zIndexBytes + 1)
    frontier.record(zIndex: longest)
    #expect(frontier.zIndex == high)
  }

  @Test("[BRD-31] only chat lines move the time that the next line must follow") func chat() {
    var frontier = Frontier()
    frontier.record(.kind, .unsigned(ObjectKind.text.rawValue), at: HybridTime(9))
    #expect(frontier.floorOfChat == nil)
    for time in [5, 3] as [UInt64] {
      frontier.record(.kind, .unsigned(ObjectKind.chat.rawValue), at: HybridTime(time))
      #expect(frontier.floorOfChat == HybridTime(5))
    }
    let last = HybridTime(BoardLimits.time)
    frontier.record(.kind, .unsigned(ObjectKind.chat.rawValue), at: last)
    #expect(frontier.chatTime == last && frontier.floorOfChat == nil)
  }
}
