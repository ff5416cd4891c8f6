import Testing

@testable import WhiteboardKit

@Suite struct WakeTimerTests {
  @Test func `a wakeTimer ends when something is due earlier, and not for what is due later`() async {
    var wakeTimer = WakeTimer()
    let due = ContinuousClock.now + .milliseconds(20)
    let alarm = wakeTimer.begin(until: due, on: nil)
    wakeTimer.wake(by: due + .seconds(3600))
    await alarm.wait()
    #expect(ContinuousClock.now >= due)
    let late = wakeTimer.begin(until: .now + .seconds(3600), on: nil)
    wakeTimer.wake(by: .now)
    await late.wait()
    wakeTimer.end()
    wakeTimer.wake(by: .now)
  }
}
