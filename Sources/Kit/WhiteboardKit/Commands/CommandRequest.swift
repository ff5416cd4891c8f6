import PeerCore
import PeerSession
import Whiteboard

package struct CommandRequest: Equatable, Sendable {
  package let command: Command
  package let request: RequestMark?
  /// The number of the line in a script, from 1; nil outside of scripts.
  package var line: Int?
  /// The caller of ``SharedBoard/perform(_:)`` that gets the result; nil for a command from the input.
  let caller: Int?

  package init(_ command: Command, request: RequestMark? = nil, line: Int? = nil) {
    self.command = command
    self.request = request
    self.line = line
    caller = nil
  }

  init(_ command: Command, caller: Int) {
    self.command = command
    self.caller = caller
    request = nil
  }
}

/// A request id: a value from the caller, which the answer repeats with the same JSON type.
public enum RequestMark: Equatable, Hashable, Sendable {
  /// A string of at most 256 bytes.
  case word(String)
  /// A whole number.
  case number(Int64)
}

package enum CommandInput: Equatable, Sendable {
  case request(CommandRequest)
  /// The board answers an invalid line with this error, in the order of the input.
  case failure(CommandError)
}

package protocol CommandSource: Sendable {
  /// Waits for the next command. Returns this command and the commands after it that were already read, at most 64 in
  /// all. Returns nil at the end of the input or when the task is canceled; throws if no more input can be read.
  func nextInputs() async throws(InputError) -> [CommandInput]?
}

package struct InputError: Error, Equatable, Sendable {
  package let number: Int32

  package init(number: Int32) { self.number = number }
}

/// The result of a command.
public struct CommandOutcome: Equatable, Sendable {
  /// The object that the command created or changed, if the command is for one object.
  public var id: ObjectID?
  /// The objects that the command created or changed, if the command accepts several objects.
  public var ids: [ObjectID]?
  /// The objects that the command replaced with copies; nil if there are none.
  ///
  /// `id` and `ids` contain the copies.
  public var replaced: [ReplacedObject]?
  /// The ids of the transfers that the command started.
  public var transfers: [String]?
  /// Whether the command changed the board; nil for commands that never change the board.
  public var hasChanged: Bool?
  /// The file that `export` wrote or `import` read.
  public var file: String?
  /// The number of objects that were exported or imported.
  public var count: Int?
  /// The label of the step that was undone or redone.
  public var step: String?
  /// The number of changes that `undo` or `redo` skipped.
  public var skipped: Int?
  /// The number of skipped changes by reason; nil if there are none.
  public var left: [String: Int]?
  /// The steps that `undo` or `redo` skipped completely; nil if there are none.
  public var skippedSteps: [SkippedStep]?
  /// The copied objects for the system clipboard, for other boards and Excalidraw; nil if they are too large.
  package var clipboard: String?

  package var sync: SyncReport?

  /// An object that a command replaced with a copy, because the time of one of its properties was the latest possible.
  public struct ReplacedObject: Hashable, Sendable {
    /// The id of the object, which no longer exists.
    public var former: ObjectID
    /// The id of the copy.
    public var id: ObjectID
  }

  static func done(_: Void) -> CommandOutcome { CommandOutcome() }

  /// Uses `id` instead of `ids` if the command named a single object.
  static func about(_ ids: [ObjectID], asOne: Bool) -> CommandOutcome {
    asOne && ids.count == 1 ? CommandOutcome(id: ids[0]) : CommandOutcome(ids: ids)
  }
}

/// The recipients that confirmed a message, and the recipients that did not confirm it.
public struct DeliveryReport: Equatable, Sendable {
  /// A recipient that did not confirm the message.
  public struct Undelivered: Equatable, Sendable {
    /// The peer id of the recipient.
    public let peer: String
    /// The display name of the recipient.
    public let name: UntrustedText
    /// The reason in one word: the `reason` of the event `left`, or `ending` if the local peer left first.
    public let reason: String
  }

  /// The ids of the recipients that confirmed the message.
  public var delivered: [String] = []
  /// The recipients that did not confirm the message.
  public var undelivered: [Undelivered] = []
}

/// A command with its arguments, for a board.
///
/// The functions and properties of this type create commands. Commands from the parsers have valid arguments: numbers
/// are finite and within the board, names have a limited length, and a list of objects is not empty. When a command
/// runs, the board checks whether its objects, peers and files exist.
public struct Command: Equatable, Sendable {
  /// Returns nil if the command is answered elsewhere, or later.
  typealias Run =
    nonisolated(nonsending) @Sendable (CommandRunner, CommandRequest) async throws(CommandError) ->
    CommandOutcome?

  package let name: CommandName
  package let arguments: [any Equatable & Sendable]
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

  /// Normalizes text and checks limits, as a parser does, for a program that creates commands without a parser.
  package func checked() throws(CommandError) -> Command { try check() }

  var answersInvitation: Bool { name == .accept || name == .decline }

  /// Whether the command may answer a pending question, or cancel a transfer.
  var answersOrCancels: Bool { answersInvitation || name == .cancel }

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

  var icon: ProfileIcon? {
    switch self {
    case .to(let icon): icon
    case .removed: nil
    }
  }
}
