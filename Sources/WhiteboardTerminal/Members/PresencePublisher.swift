import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The local pointer and view, as sent to the other members at most thirty times a second.
struct PresencePublisher: Sendable {
  private var lastSent = Duration.zero
  private var sentPointer: Point?
  private var sentView: Viewport?

  /// The shortest time between two commands.
  private static let interval = Duration.milliseconds(33)

  /// Returns the command that sends the pointer; nil if it did not move, or if it is too soon after the last command.
  mutating func move(to pointer: Point?, isLaser: Bool, now: Duration) -> BoardEffect? {
    guard let pointer, pointer != sentPointer, now - lastSent >= Self.interval else { return nil }
    lastSent = now
    sentPointer = pointer
    guard let place = try? BoardPoint(rounding: pointer) else { return nil }
    return .command(CommandRequest(.point(place, isLaser: isLaser)))
  }

  /// Returns the command that hides the pointer; nil if the other members do not see it.
  mutating func hidePointer() -> BoardEffect? {
    guard sentPointer != nil else { return nil }
    return leave()
  }

  /// Returns the command that hides the pointer, because the terminal lost the focus.
  mutating func leave() -> BoardEffect {
    sentPointer = nil
    return .command(CommandRequest(.point(nil)))
  }

  /// Returns the command that sends the view, so that others can follow it.
  ///
  /// Returns nil if the view did not change, if there are no other members, or if it is too soon after the last
  /// command.
  mutating func show(_ viewport: Viewport, hasReaders: Bool, now: Duration) -> BoardEffect? {
    guard viewport != sentView, hasReaders, now - lastSent >= Self.interval else { return nil }
    lastSent = now
    sentView = viewport
    let part = viewport.rectangle
    let (width, height) = (part.greatest.x - part.least.x, part.greatest.y - part.least.y)
    guard let center = try? BoardPoint(rounding: part.center) else { return nil }
    let view = BoardView(center: center, width: Self.whole(width), height: Self.whole(height))
    return .command(CommandRequest(.view(view)))
  }

  private static func whole(_ value: Double) -> Int {
    Int(min(max(value.rounded(.up), 1), Double(BoardLimits.viewExtent)))
  }
}
