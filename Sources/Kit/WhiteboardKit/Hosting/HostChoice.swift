import PeerSession
import WhiteboardDocument

/// The user's choices about admission to a board that the local peer hosts; stored with the board (REC-20).
package struct HostChoice: Hashable, Sendable {
  package var admission: BoardConfiguration.Admission?
  /// Whether members may admit newcomers too (TCK-6); nil if the user made no choice.
  package var membersAdmit: Bool?

  init(admission: BoardConfiguration.Admission? = nil, membersAdmit: Bool? = nil) {
    self.admission = admission
    self.membersAdmit = membersAdmit
  }

  /// Skips unknown words.
  init(text: String) {
    for word in text.split(separator: " ") {
      switch word {
      case "members": membersAdmit = true
      case "no-members": membersAdmit = false
      default: admission = BoardConfiguration.Admission(rawValue: String(word)) ?? admission
      }
    }
  }

  var text: String? {
    let words = [admission?.rawValue, membersAdmit.map { $0 ? "members" : "no-members" }].compactMap(\.self)
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// Completes these choices: a choice that the user did not make now is taken from `earlier`.
  func over(_ earlier: HostChoice) -> HostChoice {
    HostChoice(
      admission: admission ?? earlier.admission,
      membersAdmit: membersAdmit ?? earlier.membersAdmit
    )
  }
}

extension BoardConfiguration {
  /// The choices of this run. If the user gives a code, peers are admitted by code.
  var hostChoice: HostChoice {
    HostChoice(admission: admission ?? code.map { _ in .code }, membersAdmit: membersAdmit)
  }

  /// Returns the policy of the host, with a code if the policy needs a code. If the board moves to a relay, the stored
  /// policy `ask` is not used, because a relay has no user to ask.
  func hostPolicy(_ stored: HostChoice, code: JoinCode?) -> AdmissionPolicy {
    let earlier = carrier != nil && stored.admission == .ask ? nil : stored.admission
    return admissionPolicy(default: hostChoice.admission ?? earlier ?? hostAdmission, code: code)
  }

  /// Stores the choices of this run in the board's file, if the local peer hosts the board and listens. An error is
  /// only logged, so that a board opens even if the disk is full.
  nonisolated(nonsending) func storeHostChoice(in document: BoardDocument) async {
    defer { checkIsolation(#isolation) }
    guard document.mode == .writing, isListening, !isRelay, !isOffline else { return }
    let stored = await document.hostChoice()
    let chosen = hostChoice.over(stored)
    guard chosen != stored else { return }
    do throws(DocumentError) { try await document.setFact(.admission, chosen.text) } catch {
      logger.warning("The admission choice was not stored.", metadata: ["reason": "\(error.message)"])
    }
  }
}

extension BoardDocument {
  package func hostChoice() async -> HostChoice {
    HostChoice(text: (try? await fact(.admission)) ?? "")
  }
}
