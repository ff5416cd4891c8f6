import Testing

@testable import WhiteboardKit

@Suite struct WakeTimerTests {
  @Test func `a wakeTimer ends when something is due earlier, and not for what is due later`() async {
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
