import PeerSession
import WhiteboardDocument

/// The session of a board, with the name of the board and the way in which this peer admits others.
///
/// Confined to the isolation of its node.
final class BoardSession {
  /// The session.
  let session: Session
  /// The name of the board; a part of its id if no name is known.
  private(set) var name: String
  /// How the local peer admits newcomers.
  private(set) var policy: AdmissionPolicy

  /// The maximum number of bytes of a board's name.
  private static let nameLimit = 128

  init(_ session: Session, name: String, policy: AdmissionPolicy) {
    self.session = session
    self.name = name
    self.policy = policy
  }

  /// The word for the admission policy.
  var admission: BoardConfiguration.Admission { BoardConfiguration.Admission(policy) }

  /// The join code; nil if the local peer admits in another way.
  var code: JoinCode? {
    if case .code(let code) = policy { code } else { nil }
  }

  /// Replaces the join code.
  func setCode(_ code: JoinCode) { policy = .code(code) }

  // MARK: - The name

  /// Stores the title of the board, by which lists and commands also know it.
  ///
  /// A board without a name of its own is named after its title.
  ///
  /// - Throws: The error of writing the file.
  nonisolated(nonsending) func storeTitle(
    _ title: String,
    in document: BoardDocument
  ) async throws(DocumentError) {
    if try await document.title() ?? "" != title { try await document.setTitle(title) }
    guard !title.isEmpty, isProvisional(name) else { return }
    name = Self.name(fromTitle: title)
    try await document.rename(to: name)
    await session.setName(name)
  }

  /// Stores the name of the board in a file that was created before the name was known.
  ///
  /// - Throws: The error of reading or writing the file.
  nonisolated(nonsending) func storeName(in document: BoardDocument) async throws(DocumentError) {
    guard isProvisional(try await document.name()), !isProvisional(name) else { return }
    try await document.rename(to: name)
  }

  /// Returns whether a name only stands for one that is not known.
  private func isProvisional(_ name: String) -> Bool { name.isEmpty || name == session.id.short }

  /// Returns the part of a title that fits into a name.
  private static func name(fromTitle title: String) -> String {
    var name = ""
    for character in title {
      guard name.utf8.count + character.utf8.count <= nameLimit else { break }
      name.append(character)
    }
    return name
  }
}

extension BoardConfiguration.Admission {
  /// Creates the word for a policy.
  init(_ policy: AdmissionPolicy) {
    self =
      switch policy {
      case .ask: .ask
      case .code: .code
      case .known: .known
      case .anyone: .anyone
      }
  }
}

extension BoardConfiguration {
  /// Decides how the local peer admits newcomers; creates a code if one is needed and none is known.
  ///
  /// - Parameters:
  ///   - fallback: The policy if the configuration has none.
  ///   - code: The code to use if the configuration has none.
  /// - Returns: The policy.
  func admissionPolicy(default fallback: Admission, code: JoinCode?) -> AdmissionPolicy {
    switch admission ?? fallback {
    case .ask: .ask
    case .known: .known
    case .anyone: .anyone
    case .code: .code(self.code ?? code ?? .random())
    }
  }

  /// Whether the board of a session is hosted here.
  ///
  /// An offline copy of another peer's board remains that peer's board.
  func isHosting(_ session: Session) -> Bool {
    !isOffline && (isRelay || session.hostPeer == session.localPeer)
  }
}
