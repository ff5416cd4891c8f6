import PeerSession
import Whiteboard

/// A command with its arguments, for a board.
///
/// The functions and properties of this type create commands. Commands from the parsers have valid arguments: numbers
/// are finite and within the board, names have a limited length, and a list of objects is not empty. When a command
/// runs, the board checks whether its objects, peers and files exist.
public struct Command: Equatable, Sendable {
  /// A function that runs the command, and returns its outcome; nil if the command is answered elsewhere, or later.
  typealias Run =
    nonisolated(nonsending) @Sendable (CommandRunner, CommandRequest) async throws(CommandError) ->
    CommandOutcome?

  /// The name of the command in the text form and the JSON form.
  package let name: CommandName
  /// The arguments, in the order of the parameters.
  package let arguments: [any Equatable & Sendable]
  /// Returns the command with checked and normalized arguments.
  private let check: @Sendable () throws(CommandError) -> Command
  let run: Run

  init(
    _ name: CommandName,
    _ arguments: [any Equatable & Sendable],
    check: @escaping @Sendable () throws(CommandError) -> Command,
    run: @escaping Run
  ) {
    self.name = name
    self.arguments = arguments
    self.check = check
    self.run = run
  }

  /// Returns the command with normalized text, as a parser would return it.
  ///
  /// A program that creates commands without a parser uses this check.
  ///
  /// - Throws: ``CommandError`` if a value exceeds its limits, with the message that a parser would use.
  package func checked() throws(CommandError) -> Command { try check() }

  /// Whether the command answers a request to join or an offered file.
  var answersInvitation: Bool { name == .accept || name == .decline }

  /// Returns the first argument of a type; nil if there is none.
  package func argument<Value>(_ type: Value.Type = Value.self) -> Value? {
    arguments.lazy.compactMap { $0 as? Value }.first
  }

  /// Returns whether two commands have the same name and equal arguments.
  public static func == (left: Command, right: Command) -> Bool {
    left.name == right.name && left.arguments.elementsEqual(right.arguments) { $0.isEqual($1) }
  }
}

extension Equatable {
  fileprivate func isEqual(_ other: any Equatable) -> Bool { (other as? Self) == self }
}

/// The color and width of new lines.
public struct Pen: Equatable, Sendable {
  /// The color, `0xRRGGBBAA`; nil for the default color of lines.
  public var color: UInt32?
  /// The width, in board units.
  public var width: Double

  /// Creates a pen.
  ///
  /// - Parameters:
  ///   - color: The color, `0xRRGGBBAA`; nil for the default color of lines.
  ///   - width: The width, in board units.
  public init(color: UInt32? = nil, width: Double = 5) {
    self.color = color
    self.width = width
  }
}

/// A change to the icon in a profile.
public enum IconChange: Equatable, Sendable {
  /// Sets an icon.
  case to(ProfileIcon)
  /// Removes the icon.
  case removed

  /// The icon after the change; nil for none.
  var icon: ProfileIcon? {
    switch self {
    case .to(let icon): icon
    case .removed: nil
    }
  }
}
