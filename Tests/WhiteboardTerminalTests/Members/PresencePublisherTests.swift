import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Sending the pointer and the view") struct PresencePublisherTests {
  @Test("a pointer is sent when it moved, not more often than every 33 ms") func pointer() {
    var presence = PresencePublisher()
    let place = Point(x: 1, y: 2)
    let hidden = presence.hidePointer()
    #expect(hidden == nil, "the other members see no pointer")
    let early = presence.move(to: place, isLaser: false, now: .milliseconds(10))
    let sent = presence.move(to: place, isLaser: true, now: .milliseconds(40))
    let again = presence.move(to: place, isLaser: true, now: .seconds(9))
    let outside = presence.move(to: Point(x: 1e12, y: 0), isLaser: true, now: .seconds(10))
    #expect(early == nil && sent != nil && again == nil && outside == nil)
    let hiding = presence.hidePointer()
    #expect(hiding == .command(CommandRequest(.point(nil))))
  }

  @Test("a view is sent only if a member can read it") func view() {
    var presence = PresencePublisher()
    let view = Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 20)
    let alone = presence.show(view, hasReaders: false, now: .seconds(1))
    let sent = presence.show(view, hasReaders: true, now: .seconds(1))
    let again = presence.show(view, hasReaders: true, now: .seconds(2))
    #expect(alone == nil && sent != nil && again == nil)
  }
}
