import PeerTestKit
import Testing

@testable import WhiteboardKit

@Suite struct ViewerQueueTests {
  private static let size = FrameSize(width: 640, height: 480) ?? .fullHD
  private static let format = BroadcastFormat(size: size, rate: 10, codec: .raw)
  private static let corner = PixelRect(x: 0, y: 0, width: 16, height: 16)
  private static let middle = PixelRect(x: 160, y: 160, width: 32, height: 16)

  private func queue(_ request: BroadcastRequest = BroadcastRequest()) -> ViewerQueue {
    ViewerQueue(Self.format, request)
  }

  private func begun(_ request: BroadcastRequest = BroadcastRequest()) throws -> ViewerQueue {
    var queue = queue(request)
    queue.drawn(1, changed: [Self.size.area])
    guard case .start = queue.next(now: .zero) else {
      Issue.record("the first record is not START")
      return queue
    }
    #expect(queue.next(now: .zero) == .picture(.init(number: 1, base: nil, areas: [])))
    try queue.seen(1)
    return queue
  }

  @Test("[CST-4] nothing is sent before there is a picture, and then START and the whole picture") func start() throws {
    var queue = queue()
    #expect(queue.next(now: .zero) == .idle)
    queue.drawn(3, changed: [Self.corner])
    #expect(queue.next(now: .zero) == .start(Self.format))
    #expect(queue.next(now: .zero) == .picture(.init(number: 3, base: nil, areas: [])))
    #expect(queue.next(now: .zero) == .idle)
  }

  @Test("[CST-7] a viewer that confirms nothing gets two pictures, and then only the newest") func skipping() throws {
    var queue = try begun()
    queue.drawn(2, changed: [Self.corner])
    #expect(queue.next(now: .zero) == .picture(.init(number: 2, base: 1, areas: [Self.corner])))
    queue.drawn(3, changed: [Self.corner])
    #expect(queue.next(now: .zero) == .picture(.init(number: 3, base: 2, areas: [Self.corner])))
    for number in 4...100 {
      queue.drawn(UInt64(number), changed: [number.isMultiple(of: 2) ? Self.corner : Self.middle])
      #expect(queue.next(now: .zero) == .idle)
    }
    try queue.seen(2)
    guard case .picture(let picture) = queue.next(now: .zero) else {
      Issue.record("the viewer gets no picture although it confirmed one")
      return
    }
    #expect(picture.number == 100)
    #expect(picture.base == 3)
    #expect(Set(picture.areas) == [Self.corner, Self.middle])
    #expect(queue.next(now: .zero) == .idle)
  }

  @Test("[CST-6] a confirmation also confirms earlier pictures, and a wrong one is an error") func confirmations()
    throws
  {
    var queue = try begun()
    queue.drawn(2, changed: [Self.corner])
    _ = queue.next(now: .zero)
    queue.drawn(3, changed: [Self.corner])
    _ = queue.next(now: .zero)
    try queue.seen(3)
    #expect(throws: BroadcastError.self) { try queue.seen(2) }
    #expect(throws: BroadcastError.self) { try queue.seen(4) }
  }

  @Test("[CST-8] a viewer gets at most its number of pictures per second") func rate() throws {
    var queue = try begun(BroadcastRequest(rate: 4))
    queue.drawn(2, changed: [Self.corner])
    #expect(queue.next(now: .milliseconds(100)) == .wait(until: .milliseconds(250)))
    queue.drawn(3, changed: [Self.middle])
    guard case .picture(let picture) = queue.next(now: .milliseconds(250)) else {
      Issue.record("the picture is not sent when it is due")
      return
    }
    #expect(picture.number == 3)
  }

  @Test("[CST-8] nothing is sent while nothing changes") func idle() throws {
    var queue = try begun()
    queue.drawn(1, changed: [])
    #expect(queue.next(now: .seconds(100)) == .idle)
  }

  @Test("[CST-1] a viewer that accepts no changes gets whole pictures") func wholePictures() throws {
    var queue = try begun(BroadcastRequest(acceptsChanges: false))
    queue.drawn(2, changed: [Self.corner])
    #expect(queue.next(now: .zero) == .picture(.init(number: 2, base: nil, areas: [])))
  }

  @Test("changes of most of the picture are sent as a whole picture") func largeChanges() throws {
    var queue = try begun()
    queue.drawn(2, changed: [PixelRect(x: 0, y: 0, width: 640, height: 400)])
    #expect(queue.next(now: .zero) == .picture(.init(number: 2, base: nil, areas: [])))
  }

  @Test("many changed parts are merged") func manyParts() throws {
    var queue = try begun()
    for index in 0..<40 {
      let part = PixelRect(x: index % 10 * 32, y: index / 10 * 32, width: 16, height: 16)
      queue.drawn(UInt64(index + 2), changed: [part])
    }
    guard case .picture(let picture) = queue.next(now: .zero) else {
      Issue.record("no picture")
      return
    }
    #expect(picture.areas.count <= ViewerQueue.partLimit)
    for index in 0..<40 {
      let part = PixelRect(x: index % 10 * 32, y: index / 10 * 32, width: 16, height: 16)
      #expect(picture.areas.contains { $0.contains(part) })
    }
  }

  @Test("[CST-9] PAUSE follows the last picture, and RESUME comes before the next") func pausing() throws {
    var queue = try begun()
    queue.drawn(2, changed: [Self.corner])
    queue.paused(time: 7)
    #expect(queue.next(now: .zero) == .picture(.init(number: 2, base: 1, areas: [Self.corner])))
    #expect(queue.next(now: .zero) == .pause(time: 7))
    #expect(queue.next(now: .zero) == .idle)
    queue.resumed(time: 9)
    queue.drawn(3, changed: [Self.corner])
    #expect(queue.next(now: .zero) == .resume(time: 9))
    guard case .picture = queue.next(now: .zero) else {
      Issue.record("no picture after RESUME")
      return
    }
  }

  @Test("[CST-9] a viewer that joins a paused broadcast without a picture gets START and PAUSE") func pausedStart() {
    var queue = queue()
    queue.paused(time: 7)
    #expect(queue.next(now: .zero) == .start(Self.format))
    #expect(queue.next(now: .zero) == .pause(time: 7))
  }

  @Test("[CST-10] FINISH follows the newest picture, even for a viewer that confirms nothing") func finishing() throws {
    var queue = try begun()
    for number in 2...9 {
      queue.drawn(UInt64(number), changed: [Self.corner])
      _ = queue.next(now: .zero)
    }
    let notice = BroadcastNotice(code: "finished")
    queue.finished(notice)
    guard case .picture(let picture) = queue.next(now: .zero) else {
      Issue.record("the newest picture is missing")
      return
    }
    #expect(picture.number == 9)
    #expect(queue.next(now: .zero) == .finish(notice))
    #expect(queue.next(now: .zero) == .end)
  }

  @Test("[CST-4] a new region begins with START and a whole picture") func newRegion() throws {
    var queue = try begun()
    queue.formatChanged(region: [0, 0, 10, 10])
    queue.drawn(2, changed: [Self.corner])
    guard case .start(let format) = queue.next(now: .zero) else {
      Issue.record("no START")
      return
    }
    #expect(format.region == [0, 0, 10, 10])
    #expect(queue.next(now: .zero) == .picture(.init(number: 2, base: nil, areas: [])))
  }

  @Test("[CST-13] WANT-WHOLE is answered with the newest picture") func wantsWhole() throws {
    var queue = try begun()
    #expect(queue.next(now: .zero) == .idle)
    queue.wantsWhole()
    #expect(queue.next(now: .milliseconds(99)) == .wait(until: .milliseconds(100)))
    #expect(queue.next(now: .milliseconds(100)) == .picture(.init(number: 1, base: nil, areas: [])))
  }

  @Test("[CST-8] [CST-13] answers to WANT-WHOLE are not faster than the rate, also during a pause")
  func wantsWholeOften() throws {
    var queue = try begun()
    queue.paused(time: 7)
    #expect(queue.next(now: .zero) == .pause(time: 7))
    for step in 1...3 {
      queue.wantsWhole()
      let due = Duration.milliseconds(100 * step)
      #expect(queue.next(now: due - .milliseconds(1)) == .wait(until: due))
      #expect(queue.next(now: due) == .picture(.init(number: 1, base: nil, areas: [])))
      try queue.seen(1)
    }
  }

  @Test("[CST-6] [CST-13] after the end, WANT-WHOLE does not delay FINISH") func wantsWholeAtEnd() throws {
    var queue = try begun()
    let notice = BroadcastNotice(code: "finished")
    queue.wantsWhole()
    queue.finished(notice)
    #expect(queue.next(now: .zero) == .picture(.init(number: 1, base: nil, areas: [])))
    queue.wantsWhole()
    #expect(queue.next(now: .zero) == .finish(notice))
  }

  @Test("[CST-5] [CST-7] whatever a viewer confirms and when, it shows the newest picture", arguments: 1...40)
  func reconstruction(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let size = try #require(FrameSize(width: 96, height: 64))
    var picture = FramePixels(size: size)
    var shown = picture
    var queue = ViewerQueue(BroadcastFormat(size: size, rate: 10, codec: .raw), BroadcastRequest())
    var (number, last, sent, pending): (UInt64, UInt64, Int, [UInt64]) = (0, 0, 0, [])
    for step in 1...300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...30, using: &random))
        let area = PixelRect(
          x: Int.random(in: 0...(96 - width), using: &random),
          y: Int.random(in: 0...(64 - height), using: &random),
          width: width,
          height: height
        )
        let color = UInt32.random(in: 0...3, using: &random)
        let patch = FramePatch(area: area, pixels: [UInt32](repeating: color, count: area.pixelCount))
        let changed = picture.apply(patch) ?? []
        guard !changed.isEmpty || number == 0 else { continue }
        number += 1
        queue.drawn(number, changed: changed)
      case 5..<8: if !pending.isEmpty { try queue.seen(pending.removeFirst()) }
      case 8: queue.wantsWhole()
      default: queue.formatChanged(region: nil)
      }
      // Each step takes as long as one picture, so that the rate delays no picture.
      guard case .picture(let next) = queue.next(now: .milliseconds(100 * step)) else { continue }
      sent += 1
      #expect(next.number == number)
      if let base = next.base {
        #expect(base == last && base < next.number)
        for area in next.areas { shown.apply(FramePatch(area: area, pixels: picture.part(area))) }
      } else {
        shown = picture
      }
      last = next.number
      pending.append(last)
      #expect(pending.count <= ViewerQueue.window)
      #expect(shown == picture)
    }
    #expect(sent > 20)
  }
}
