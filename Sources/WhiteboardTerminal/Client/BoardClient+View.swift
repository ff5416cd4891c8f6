import Whiteboard
import WhiteboardRendering

/// Which part of the board is seen.
extension BoardClient {
  /// A person looks elsewhere, and no longer where somebody else does.
  mutating func look(_ viewport: Viewport) {
    if let key = followed {
      followed = nil
      say("no longer following \(people[key].map { shown($0.name) } ?? "anybody")")
    }
    canvas.show(viewport)
  }

  mutating func pan(byDots x: Double, _ y: Double) {
    var viewport = canvas.viewport
    viewport.pan(byDots: x, y)
    look(viewport)
  }

  /// Shows all of a part of the board.
  mutating func see(_ part: Rectangle) {
    var viewport = canvas.viewport
    viewport.fit(part)
    look(viewport)
  }

  /// The view goes along with a pen that leaves it.
  mutating func keepInView(_ place: Point) {
    guard !canvas.viewport.rectangle.contains(Rectangle(place, place)) else { return }
    var viewport = canvas.viewport
    viewport.center = place
    look(viewport)
  }

  // MARK: - Following

  /// Follows the next present member, and stops following after the last one.
  mutating func followNext() {
    let here = people.keys.sorted { (people[$0]?.name ?? "", $0) < (people[$1]?.name ?? "", $1) }
    guard !here.isEmpty else {
      say("there is no other member to follow")
      return
    }
    guard let key = followed, let index = here.firstIndex(of: key) else {
      follow(here[0])
      return
    }
    if index + 1 < here.count { follow(here[index + 1]) } else { look(canvas.viewport) }
  }

  mutating func follow(_ key: String) {
    followed = key
    say("following \(people[key].map { shown($0.name) } ?? "somebody"); move the board to stop")
    follow()
  }

  /// Sees what the one sees who is followed; where they point, if they do not tell more.
  mutating func follow() {
    guard let key = followed else { return }
    guard let person = people[key] else {
      followed = nil
      return
    }
    var viewport = canvas.viewport
    if let view = person.presence.view {
      let (width, height) = (Double(view.width) / 2, Double(view.height) / 2)
      viewport.show(
        Rectangle(
          Point(x: view.center.x - width, y: view.center.y - height),
          Point(x: view.center.x + width, y: view.center.y + height)
        )
      )
    } else if let cursor = person.presence.cursor {
      viewport.center = cursor
    }
    canvas.show(viewport)
  }
}
