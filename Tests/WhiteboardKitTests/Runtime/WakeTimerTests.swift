import Testing

@testable import WhiteboardKit

@Suite struct WakeTimerTests {
  @Test func `a wakeTimer ends when something is due earlier, and not for what is due later`() async {
    var wakeTimer = WakeTimer()
    let alarm = wakeTimer.begin(until: .now + .seconds(3600), on: nil)
    wakeTimer.wake(by: .now + .seconds(7200))
    #expect(!alarm.hasRung)
    wakeTimer.wake(by: .now)
    await alarm.wait()
    wakeTimer.end()
    wakeTimer.wake(by: .now)
  }
}
