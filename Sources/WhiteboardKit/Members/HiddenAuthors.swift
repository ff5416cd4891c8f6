import Whiteboard
import WhiteboardDocument

/// The authors that the local user has hidden on all boards.
///
/// Confined to the actor of its board.
final class HiddenAuthors {
  /// The maximum number of authors that are hidden at the same time.
  static let limit = 256

  private let settings: PersonalSettings?
  private(set) var members: Set<MemberID> = []

  init(_ settings: PersonalSettings?) { self.settings = settings }

  nonisolated(nonsending) func load() async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    if let settings { members = try await settings.hiddenAuthors }
  }

  var isEmpty: Bool { members.isEmpty }

  func contains(_ member: MemberID) -> Bool { members.contains(member) }

  /// Hides an author or shows it again, and stores the change; throws if too many authors are hidden, or the change
  /// cannot be stored.
  nonisolated(nonsending) func set(_ member: MemberID, isHidden: Bool) async throws(CommandError) {
    guard !isHidden || members.count < Self.limit else {
      throw CommandError(
        .refused,
        "you already hide \(Self.limit) authors, which is the maximum; `unhide` some of them"
      )
    }
    let before = members
    if isHidden { members.insert(member) } else { members.remove(member) }
    guard let settings else { return }
    do throws(DocumentError) { try await settings.store(hiddenAuthors: members) } catch {
      if before.contains(member) { members.insert(member) } else { members.remove(member) }
      throw CommandError(error)
    }
  }
}

extension PersonalSettings {
  /// The stored authors that the user hid; skips words that are not peer ids.
  var hiddenAuthors: Set<MemberID> {
    get throws(DocumentError) {
      let words = try value("hidden")?.split(separator: " ") ?? []
      return Set(words.prefix(HiddenAuthors.limit).compactMap { MemberID(text: String($0)) })
    }
  }

  fileprivate func store(hiddenAuthors: Set<MemberID>) throws(DocumentError) {
    let words = hiddenAuthors.sorted().map(\.description)
    try set("hidden", to: words.isEmpty ? nil : words.joined(separator: " "))
  }
}
