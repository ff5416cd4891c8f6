import Testing

@testable import PeerSession

@Suite("TransferRetry") struct TransferRetryTests {
  @Test("the waits grow to 5 s, and the sender gives up after 20 failures in a row") func failures() {
    var retry = TransferRetry()
    let waits = (1...TransferRetry.attemptLimit).map { _ in retry.failed() }
    let expected = ([200, 500, 1_000, 2_000] + Array(repeating: 5_000, count: 15)).map { Duration.milliseconds($0) }
    #expect(waits.compactMap(\.self) == expected)
    #expect(waits.last == .some(nil))
  }

  @Test("bytes that were sent end the row of failures") func progress() {
    var retry = TransferRetry()
    for _ in 1..<TransferRetry.attemptLimit { _ = retry.failed() }
    retry.progressed()
    #expect(retry.failed() == .milliseconds(200))
  }
}
