extension KeyMap {
  /// The headings of the help, in their order.
  enum Section: String, Hashable, Sendable, CaseIterable {
    case draw = "Draw"
    case look = "Look around"
    case change = "Select and change"
    case people = "People, chat and games"
    case program = "Board and program"
  }
}

extension KeyMap.Command {
  var section: KeyMap.Section {
    switch self {
    case .tool, .color, .thinner, .broader, .keyboardPen, .snap, .photo: .draw
    case .arrow, .zoomIn, .zoomOut, .fit, .actualSize, .follow: .look
    case .chat, .readChat, .invite, .panel, .game, .connectFour: .people
    case .command, .menu, .help, .quit, .redraw, .interrupt, .saved, .export, .suspend: .program
    default: .change
    }
  }
}
