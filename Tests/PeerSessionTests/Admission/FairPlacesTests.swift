import Testing

@testable import PeerSession

struct FairPlacesTests {
  private func block(_ number: Int) -> AddressBlock { AddressBlock(host: "192.0.2.\(number)") }

  private func connections() -> FairPlaces<Int> {
    FairPlaces(maximum: 64, maximumPerBlock: 16, reserved: 8, eviction: .oldest)
  }

  @Test("[LNK-6] five addresses with 16 connections each do not block a sixth") func flood() {
    var places = connections()
    for number in 0..<80 { _ = places.enter(number, from: block(number / 16), isKnown: false) }
    #expect(places.count == 56)
    guard case .place(.some) = places.enter(100, from: block(9), isKnown: false) else {
      Issue.record("the newcomer was refused")
      return
    }
    #expect(places.count == 56)
  }

  @Test("[LNK-6] a network with many addresses does not block another network", arguments: [false, true]) func network(
    isIPv6: Bool
  ) {
    func attacker(_ number: Int) -> String { isIPv6 ? "2001:db8:\(number)::1" : "203.0.\(number / 8).\(number)" }
    let (first, second) = isIPv6 ? ("2001:db9::1", "2001:db9:1::1") : ("198.51.100.1", "198.51.100.2")
    var places = connections()
    for number in 0..<89 { _ = places.enter(number, from: AddressBlock(host: attacker(number)), isKnown: false) }
    #expect(places.count == 56)
    for (id, host) in [(1_000, first), (1_001, second)] {
      guard case .place(.some) = places.enter(id, from: AddressBlock(host: host), isKnown: false) else {
        Issue.record("\(host) was refused")
        continue
      }
    }
    // The addresses of the network compete with each other, but cannot take the places back.
    for number in 90..<300 {
      let decision = places.enter(number, from: AddressBlock(host: attacker(number % 256)), isKnown: false)
      if case .place(let evicted?) = decision { #expect(evicted < 1_000) }
    }
    #expect(places.count == 56)
  }

  @Test("[LNK-6] an address has at most 16 connections, also if all places are free") func one() {
    var places = connections()
    for number in 0..<16 { #expect(places.enter(number, from: block(1), isKnown: true) == .place(evicting: nil)) }
    #expect(places.enter(16, from: block(1), isKnown: true) == .refused)
    places.leave(3)
    #expect(places.enter(17, from: block(1), isKnown: true) == .place(evicting: nil))
  }

  @Test("the oldest or the newest entry of the address with the most entries loses its place") func evicted() {
    for (eviction, expected) in [(FairPlaces<Int>.Eviction.oldest, 1), (.newest, 3)] {
      var places = FairPlaces<Int>(maximum: 4, maximumPerBlock: 4, reserved: 0, eviction: eviction)
      for (id, address) in [(0, 1), (1, 2), (2, 2), (3, 2)] {
        _ = places.enter(id, from: block(address), isKnown: false)
      }
      #expect(places.enter(4, from: block(3), isKnown: false) == .place(evicting: expected))
      #expect(places.count == 4)
    }
  }

  @Test("an address with as many entries as any other gets no place") func equal() {
    var places = FairPlaces<Int>(maximum: 4, maximumPerBlock: 4, reserved: 0, eviction: .oldest)
    for id in 0..<4 { _ = places.enter(id, from: block(id / 2), isKnown: false) }
    #expect(places.enter(4, from: block(0), isKnown: false) == .refused)
  }

  @Test("reserved places are for known newcomers, and no stranger gets a known peer's place") func reserved() {
    var places = FairPlaces<Int>(maximum: 4, maximumPerBlock: 2, reserved: 2, eviction: .newest)
    #expect(places.enter(0, from: block(0), isKnown: false) == .place(evicting: nil))
    #expect(places.enter(1, from: block(1), isKnown: false) == .place(evicting: nil))
    #expect(places.enter(2, from: block(0), isKnown: false) == .refused)
    #expect(places.enter(3, from: block(2), isKnown: true) == .place(evicting: nil))
    #expect(places.enter(4, from: block(2), isKnown: true) == .place(evicting: nil))
    #expect(places.enter(5, from: block(3), isKnown: false) == .refused, "each stranger's address has only one place")
    #expect(places.enter(6, from: block(4), isKnown: true) == .place(evicting: 4))
  }
}
