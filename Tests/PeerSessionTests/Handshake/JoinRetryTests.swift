import PeerWire
import Testing

@testable import PeerSession

@Suite("[CLS-4] dialing again on a first join") struct JoinRetryTests {
  private func error(_ code: CloseCode) -> SessionError { SessionError(closeCode: code, message: "") }

  @Test("temporary errors are retried with the delays of LIV-3, up to the limit") func waits() {
    for code in [CloseCode.busy, .timedOut, .internalError, .unknownAdmitter, .duplicateLink] {
      var retry = JoinRetry(limit: .seconds(30), start: .zero)
      var now = Duration.zero
      var waits: [Duration] = []
      while let wait = retry.wait(after: error(code), now: now, jitter: 0) {
        waits.append(wait)
        now += wait
      }
      let first: [Duration] = [
        .milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(5),
      ]
      #expect(Array(waits.prefix(6)) == first, "\(code)")
      #expect(now < .seconds(30) && now > .seconds(20), "\(code)")
    }
  }

  @Test("jitter adds up to 30 %") func jitter() {
    var retry = JoinRetry(limit: .seconds(30), start: .zero)
    #expect(retry.wait(after: error(.busy), now: .zero, jitter: 1) == .milliseconds(260))
  }

  @Test("a listener that accepts no codes for a minute is dialed for longer than that") func lockedOut() {
    var retry = JoinRetry(limit: .seconds(30), start: .seconds(100))
    #expect(retry.wait(after: error(.lockedOut), now: .seconds(165), jitter: 0) != nil)
    #expect(retry.wait(after: error(.lockedOut), now: .seconds(176), jitter: 0) == nil)
    #expect(retry.wait(after: error(.busy), now: .seconds(131), jitter: 0) == nil)
  }

  @Test("an unknown close code counts as internal-error and is retried") func unknown() {
    var retry = JoinRetry(limit: .seconds(30), start: .zero)
    let unknown = error(CloseCode(received: "no-such-code"))
    #expect(retry.wait(after: unknown, now: .zero, jitter: 0) != nil)
  }

  @Test("a refusal, a local error and a limit of zero are final") func final() {
    let codes: [CloseCode] = [
      .declined, .kicked, .wrongCode, .notKnown, .notVerified, .withdrawn, .versionMismatch, .left, .shuttingDown,
      .full, .noSuchSession, .self, .protocolError,
    ]
    var errors = codes.map(error)
    // A user had enough time to answer.
    var asked = error(.timedOut)
    asked.redial = .never
    errors += [asked, SessionError(.unreachable, ""), SessionError(.internalError, ""), .cancelled]
    for error in errors {
      var retry = JoinRetry(limit: .seconds(30), start: .zero)
      #expect(retry.wait(after: error, now: .zero, jitter: 0) == nil, "\(error)")
    }
    var never = JoinRetry(limit: .zero, start: .zero)
    #expect(never.wait(after: error(.busy), now: .zero, jitter: 0) == nil)
  }

  @Test("the error for a peer that does not answer does not mention an invitation") func words() {
    #expect(!error(.timedOut).message.contains("invitation"))
  }
}
