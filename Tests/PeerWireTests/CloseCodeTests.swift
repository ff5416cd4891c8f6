import PeerWire
import Testing

struct CloseCodeTests {
  @Test("every code of the table has its policy, and unknown codes count as internal-error") func table() {
    var known: Set<CloseCode> = []
    for vector in SessionVectors.all.closeCodes {
      let code = CloseCode(received: vector.code)
      #expect(code.rawValue == vector.treatedAs ?? vector.code)
      #expect(name(ofRedial: code.redial) == vector.redial, "\(vector.code)")
      if vector.treatedAs == nil { known.insert(code) }
    }
    #expect(known.count == CloseCode.allCases.count)
  }

  private func name(ofRedial redial: CloseCode.Redial) -> String {
    switch redial {
    case .never: "never"
    case .afterRestart: "after-restart"
    case .withProof: "with-proof"
    case .later: "later"
    case .notApplicable: "not-applicable"
    }
  }
}
