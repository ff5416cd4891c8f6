import Testing

@testable import WhiteboardKit

@Suite struct WakeTimerTests {
  @Test func `an earlier deadline ends the timer, and a later deadline does not`() async {
    var wakeTimer = WakeTimer()
    let now = ContinuousClock.now
    await wakeTimer.begin(until: now, on: nil).wait()
    let alarm = wakeTimer.begin(until: now + .seconds(3_600), on: nil)
    #expect(!wakeTimer.wake(by: now + .seconds(7_200)))
    #expect(wakeTimer.wake(by: now))
    await alarm.wait()
    wakeTimer.end()
    #expect(!wakeTimer.wake(by: now))
  }
}
