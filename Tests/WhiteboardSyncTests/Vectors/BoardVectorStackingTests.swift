import Testing

@testable import Whiteboard

extension BoardVectors {
  struct ZIndexes: Decodable, Sendable {
    struct Front: Decodable, Sendable {
      let top: String?
      let place: String
    }
    struct Back: Decodable, Sendable {
      let bottom: String?
      let place: String?
    }
    struct Between: Decodable, Sendable {
      let lower: String?
      let upper: String?
      let place: String?
    }
    struct Spread: Decodable, Sendable {
      let count: Int
      let lower: String?
      let upper: String?
      let places: [String]
    }
    let jitter: String
    let front: [Front]
    let back: [Back]
    let between: [Between]
    let spread: [Spread]
    let notFollowed: [String]
  }
}

@Suite struct BoardVectorStackingTests {
  private let vectors = BoardVectors.file.zIndexes

  private func place(_ hex: String?) throws -> [UInt8]? { try hex.map(BoardVectors.bytes) }

  private func text(_ place: [UInt8]?) -> String? { place.map { Hexadecimal.encode($0) } }

  @Test("[BRD-34] positions in front, behind and between are those of the vectors") func places() throws {
    let jitter = try #require(BoardVectors.bytes(vectors.jitter).first)
    #expect(vectors.front.count > 3 && vectors.back.count > 3 && vectors.between.count > 3)
    for vector in vectors.front { #expect(text(ZIndex.above(try place(vector.top), jitter: jitter)) == vector.place) }
    for vector in vectors.back { #expect(text(ZIndex.below(try place(vector.bottom), jitter: jitter)) == vector.place) }
    for vector in vectors.between {
      let (lower, upper) = (try place(vector.lower), try place(vector.upper))
      #expect(text(ZIndex.between(lower, upper, jitter: jitter)) == vector.place)
    }
    for vector in vectors.spread {
      let (lower, upper) = (try place(vector.lower), try place(vector.upper))
      let places = ZIndex.spread(vector.count, between: lower, and: upper, jitter: jitter)
      #expect(places?.map { Hexadecimal.encode($0) } == vector.places)
    }
    for place in vectors.notFollowed { #expect(!ZIndex.isFollowed(try BoardVectors.bytes(place))) }
  }
}
