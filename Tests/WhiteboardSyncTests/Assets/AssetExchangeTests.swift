import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct AssetExchangeTests {
  private let asset = World.asset(1)
  private let a: MemberID
  private let b: MemberID

  init() throws {
    a = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    b = try #require(MemberID(bytes: Array(repeating: 2, count: 32)))
  }

  private func joined() -> AssetExchange {
    var exchange = AssetExchange()
    #expect(exchange.memberJoined(a, now: 0).isEmpty)
    #expect(exchange.memberJoined(b, now: 0).isEmpty)
    return exchange
  }

  @Test("[SYN-35] an asset is requested once, from the member that brought its object") func once() {
    var exchange = joined()
    #expect(exchange.want(asset, preferring: b, now: 0) == [.ask(asset.id, b)])
    #expect(exchange.want(asset, preferring: a, now: 0).isEmpty)
    #expect(exchange.isAsking(asset.id, from: b) && !exchange.isAsking(asset.id, from: a))
    #expect(exchange.arrived(asset.id, now: 1).isEmpty)
    #expect(!exchange.isBusy && exchange.tick(100_000).isEmpty)
  }

  @Test("[SYN-35] if a member does not have an asset, the next is asked; after 5 s all are asked again") func next() {
    var exchange = joined()
    _ = exchange.want(asset, preferring: b, now: 0)
    #expect(exchange.unavailable(asset.id, from: a, now: 0).isEmpty)
    #expect(exchange.unavailable(asset.id, from: b, now: 0) == [.ask(asset.id, a)])
    #expect(exchange.unavailable(asset.id, from: a, now: 5).isEmpty)
    #expect(!exchange.isBusy)
    #expect(exchange.tick(10_004).isEmpty)
    #expect(exchange.tick(10_005) == [.ask(asset.id, b)])
  }

  @Test("[SYN-35] after 30 s without progress, or when a member leaves, the next one is asked") func silence() {
    var exchange = joined()
    _ = exchange.want(asset, preferring: a, now: 0)
    exchange.progressed(asset.id, now: 20_000)
    #expect(exchange.tick(49_999).isEmpty)
    #expect(exchange.tick(50_000) == [.ask(asset.id, b)])
    #expect(exchange.memberLeft(b, now: 50_001).isEmpty)
    #expect(exchange.memberJoined(b, now: 50_002) == [.ask(asset.id, b)])
  }

  @Test("[SYN-35] four assets are requested at a time") func parallel() {
    var exchange = joined()
    let asked = (0..<10).flatMap { exchange.want(World.asset(UInt8($0)), preferring: nil, now: 0) }
    #expect(asked.count == 4)
    #expect(exchange.arrived(World.asset(0).id, now: 0) == [.ask(World.asset(4).id, a)])
  }

  @Test("[SYN-35] unavailable assets make room for available ones", .enabled(if: isOptimized)) func unobtainable()
    throws
  {
    func asset(_ number: Int) throws -> AssetReference {
      let bytes = (0..<32).map { UInt8(truncatingIfNeeded: $0 < 4 ? number >> (8 * $0) : 0) }
      return try AssetReference(
        id: #require(AssetID(bytes)),
        byteCount: 1000,
        header: PhotoHeader(format: .png, width: 30, height: 20)
      )
    }
    var exchange = AssetExchange()
    var asked = exchange.memberJoined(a, now: 0)
    for number in 0..<AssetExchange.most { asked += exchange.want(try asset(number), preferring: nil, now: 0) }
    let good = try asset(1_000_000)
    // There is no room until a request has failed.
    #expect(exchange.want(good, preferring: nil, now: 0).isEmpty)
    #expect(exchange.hasOverflowed && exchange.reference(of: good.id) == nil)
    for case .ask(let id, _) in asked { asked = exchange.unavailable(id, from: a, now: 0) }
    _ = exchange.want(good, preferring: nil, now: 0)
    #expect(exchange.reference(of: good.id) == good)
  }

  @Test("[SYN-35] a member whose assets never arrive leaves room for the assets of others") func starving() {
    var exchange = joined()
    for number: UInt8 in 0..<40 {
      // The other member does not have these assets, and says so immediately.
      for case .ask(let id, b) in exchange.want(World.asset(number), preferring: a, now: 0) {
        _ = exchange.unavailable(id, from: b, now: 0)
      }
    }
    let good = World.asset(100)
    #expect(exchange.want(good, preferring: b, now: 1) == [.ask(good.id, b)])
  }
}
