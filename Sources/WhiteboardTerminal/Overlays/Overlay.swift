import WhiteboardKit
import WhiteboardRendering

/// A view that covers the board until a key or a click closes it.
enum Overlay: Hashable, Sendable {
  case panel(Panel)
  /// How others join: with one browser link, or if it is nil, in all ways.
  case invitation(BrowserInvitation?)
  case menu(Menu)
  /// The question whether to leave with unsaved work.
  case unsavedQuestion

  /// The reaction to an input.
  enum Outcome: Hashable, Sendable {
    /// The overlay stays open; it may have scrolled.
    case none
    case close
    /// Close, and perform the command that the user picked.
    case perform(KeyMap.Command)
    /// Open the prompt for a chat line; the chat stays open.
    case writeChat
    case redraw
    /// The user answered the question about unsaved work.
    case answered(SaveStatus.Answer)
  }

  /// Returns the cells that the overlay covers; the whole screen for dialogs.
  func area(in layout: ScreenLayout) -> CellArea {
    switch self {
    case .menu(let menu): MenuLayout(menu, layout).area
    case .panel: layout.panel
    case .invitation, .unsavedQuestion: layout.screen
    }
  }

  /// Whether the overlay is the chat.
  var isChat: Bool { if case .panel(let panel) = self { panel.content == .chat } else { false } }

  /// Whether the overlay only shows information, so that a question may close it.
  var isInformation: Bool {
    switch self {
    case .invitation, .panel: true
    case .menu, .unsavedQuestion: false
    }
  }
}

// MARK: - Input

extension Overlay {
  /// Handles a key.
  mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    _ keys: KeyMap,
    in layout: ScreenLayout
  ) -> Outcome {
    let command = keys.command(key, modifiers)
    switch self {
    case .panel(var panel):
      if panel.content == .chat, command == .chat || key == .enter { return .writeChat }
      if modifiers.isEmpty, panel.scroll(key) {
        self = .panel(panel)
        return .none
      }
      switch command {
      case .quit, .selectNone, .interrupt, .edit, .help, .readChat: return .close
      case .redraw: return .redraw
      default: return key == .escape || key == .character("q") ? .close : .none
      }
    case .menu(var menu):
      if menu.move(key, in: layout) {
        self = .menu(menu)
        return .none
      }
      if key == .enter { return Self.pick(menu.command) }
      return Self.pick([.menu, .selectNone, .interrupt].contains(command) ? nil : command)
    case .invitation: return .close
    case .unsavedQuestion: return .answered(SaveStatus.answer(key, modifiers))
    }
  }

  /// Handles a click, which picks an item of a menu, or closes the overlay.
  ///
  /// A click inside a panel does nothing.
  func press(atX x: Int, y: Int, in layout: ScreenLayout) -> Outcome {
    switch self {
    case .panel: return layout.panel.contains(x: x, y: y) ? .none : .close
    case .menu(let menu): return Self.pick(menu.item(atX: x, y: y, in: layout).map { menu.items[$0].command })
    case .invitation, .unsavedQuestion: return .close
    }
  }

  /// Scrolls a panel by three rows, or moves the highlight of a menu by one item.
  mutating func scroll(_ step: Int) {
    switch self {
    case .panel(var panel):
      panel.scroll(by: step * 3)
      self = .panel(panel)
    case .menu(var menu):
      menu.leap(step)
      self = .menu(menu)
    case .invitation, .unsavedQuestion: break
    }
  }

  private static func pick(_ command: KeyMap.Command?) -> Outcome { command.map { .perform($0) } ?? .close }
}
