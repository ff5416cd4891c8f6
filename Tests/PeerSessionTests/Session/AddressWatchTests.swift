import NIOCore
import Testing

@testable import PeerSession

@Suite("AddressWatch") struct AddressWatchTests {
  @Test("[MEM-4] changed addresses are sent once, and the first ones not at all") func changes() {
    var watch = AddressWatch()
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    #expect(watch.changed(now: now) { ["10.0.0.1"] } == nil)
    // It is too early for the next comparison.
    #expect(watch.changed(now: now) { ["10.0.0.2"] } == nil)
    now = now + AddressWatch.interval
    #expect(watch.changed(now: now) { ["10.0.0.2"] } == ["10.0.0.2"])
    now = now + AddressWatch.interval
    #expect(watch.changed(now: now) { ["10.0.0.2"] } == nil)
    now = now + AddressWatch.interval
    #expect(watch.changed(now: now) { ["10.0.0.1"] } == ["10.0.0.1"])
  }
}
