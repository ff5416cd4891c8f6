import Testing

@testable import WhiteboardKit

@Suite struct WakeTimerTests {
  @Test func `a wakeTimer ends when something is due earlier, and not for what is due later`() async {
    var wakeTimer = WakeTimer()
    let sleeper = wakeTimer.begin(until: .now + .seconds(3600))
    wakeTimer.wake(by: .now + .seconds(7200))
    #expect(!sleeper.isCancelled)
    wakeTimer.wake(by: .now)
    await sleeper.value
    wakeTimer.end()
    wakeTimer.wake(by: .now)
  }
}
