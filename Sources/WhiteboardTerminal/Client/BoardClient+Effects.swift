import PeerCore
import WhiteboardKit

/// The effects that parts of the client request.
extension BoardClient {
  /// Applies the effects of a part of the client.
  ///
  /// - Returns: The actions that the owner of the client must perform.
  mutating func apply(_ effects: [BoardEffect]) -> [Action] { effects.flatMap { apply($0) } }

  private mutating func apply(_ effect: BoardEffect) -> [Action] {
    switch effect {
    case .command(let request): return [.command(request)]
    case .message(let text): say(text)
    case .problem(let text): showFailure(text)
    case .selectionRequired:
      let key = keys.key(for: .tool(.select)) ?? "select"
      say("select an object first: press \(key) and click it, or press Tab")
    case .turnBegan: say("Your turn in Connect Four: \(keys.key(for: .connectFour) ?? ":play") plays")
    case .chatReceived(let author, let text): announce(text, by: author)
    case .viewMoved: stopFollowing()
    case .stopFollowing: session.members.stopFollowing()
    case .typeIn(let snapshot): return apply(workspace.beginTyping(in: snapshot))
    case .typeText(let place): workspace.beginTyping(at: place)
    case .openPrompt(let purpose): prompt.open(purpose)
    case .openMenu(let cell): overlay = .menu(workspace.menu(at: cell))
    case .questionReceived: if overlay?.isInformation == true { overlay = nil }
    case .membershipEnded:
      workspace.discardEditing()
      prompt.close()
      overlay = nil
    }
    return []
  }

  /// Sends a command and awaits its answer.
  mutating func send(_ command: Command) -> [Action] { apply(workspace.requests.issue(command)) }

  /// Shows a chat line as a message if no chat is visible.
  private mutating func announce(_ text: UntrustedText, by author: UntrustedText) {
    guard !layout.hasSidePanel, !isChatOpen else {
      session.chat.unreadCount = 0
      return
    }
    session.chat.unreadCount += 1
    messages.show("\(author): \(text.escaped(limit: 500))", .chat, at: now)
  }

  // MARK: - Panels

  mutating func open(_ panel: Panel) {
    messages.notice = nil
    overlay = .panel(panel)
  }

  /// Shows the chat in a panel, scrolled to the last line.
  mutating func openChat() {
    session.chat.unreadCount = 0
    open(Panel("Chat", .chat))
  }
}
