import PeerSession
import Testing

@testable import WhiteboardKit

@Suite struct BoardSessionTests: BoardSuite {
  private func code(_ policy: AdmissionPolicy) -> JoinCode? { if case .code(let code) = policy { code } else { nil } }

  @Test("the configuration decides about the policy and the code; if it does not, the board does") func precedence()
    async throws
  {
    try await withRoom { room in
      var configuration = await room.configuration(.host(boardName: "plan"), "ada")
      let (stored, own) = (JoinCode.random(), JoinCode.random())
      #expect(code(configuration.admissionPolicy(default: .code, code: stored)) == stored)
      #expect(code(configuration.admissionPolicy(default: .known, code: stored)) == nil)
      configuration.code = own
      #expect(code(configuration.admissionPolicy(default: .code, code: stored)) == own)
      configuration.admission = .ask
      let policy = configuration.admissionPolicy(default: .code, code: stored)
      #expect(BoardConfiguration.Admission(policy) == .ask)
      configuration.admission = .code
      #expect(code(configuration.admissionPolicy(default: .known, code: stored)) == own)
    }
  }

  @Test("a code is created if one is needed and none is known") func newCode() async throws {
    try await withRoom { room in
      let configuration = await room.configuration(.host(boardName: "plan"), "ada")
      let policy = configuration.admissionPolicy(default: .code, code: nil)
      #expect(BoardConfiguration.Admission(policy) == .code)
      #expect(code(policy) != nil)
    }
  }
}
