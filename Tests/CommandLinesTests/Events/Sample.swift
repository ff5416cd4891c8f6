import PeerCore
import Testing

@testable import Whiteboard
@testable import WhiteboardKit

/// Objects and members for events.
enum Sample {
  static func member(_ byte: UInt8) -> MemberID {
    guard let member = MemberID(bytes: [UInt8](repeating: byte, count: 32)) else { preconditionFailure("32 bytes") }
    return member
  }

  /// Returns an id whose text is the number and `-abcdefghijklm`.
  static func id(_ number: UInt64) -> ObjectID {
    guard let id = ObjectID("\(number)-abcdefghijklm") else { preconditionFailure("a number from 1") }
    return id
  }

  static func added(_ object: ReportedObject, by member: MemberID) -> SharedBoard.Output {
    .change(.added(object.snapshot, by: .me), .init(member: member, object: object))
  }

  static func changed(_ object: ReportedObject, by member: MemberID, isHidden: Bool = false) -> SharedBoard.Output {
    .change(.changed(object.snapshot, by: .me), .init(member: member, isHidden: isHidden, object: object))
  }

  static func joined(_ id: MemberID, _ name: UntrustedText) -> SharedBoard.Output {
    .change(.joined(.init(id: .init(id), name: name)), .init(member: id, name: name))
  }

  static func chat(_ author: MemberID, name: String, icon: String? = nil, _ text: String) -> SharedBoard.Output {
    .change(.chat(chatLine(author, name: name, icon: icon, text), by: .me), .init(member: author))
  }

  static func chatLine(_ author: MemberID, name: String, icon: String? = nil, _ text: String) -> ChatLine {
    ChatLine(
      id: id(7),
      author: author,
      name: name,
      icon: icon,
      text: text,
      sentAt: 1_795_000_000_123,
      about: nil,
      isResolved: false,
      time: HybridTime(0)
    )
  }

  static var photo: AssetReference {
    get throws {
      let hash = try #require(AssetID([UInt8](repeating: 2, count: 32)))
      return try AssetReference(id: hash, byteCount: 99, header: PhotoHeader(format: .png, width: 3, height: 4))
    }
  }

  /// Returns an object; if it is full, most of its properties have values that are not the default.
  static func object(
    _ kind: ObjectKind,
    id number: UInt64 = 7,
    text: String? = nil,
    form: DrawingForm? = nil,
    style: ObjectStyle? = nil,
    ink: [InkPoint]? = nil,
    erased: [ClosedRange<Int>] = [],
    isFull: Bool = false,
    isFinished: Bool? = nil,
    asset: AssetReference? = nil,
    center: Point = Point(x: -0.5, y: 12_345.125),
    size: Size = Size(width: 100, height: 0.1),
    scale: Double = 1.5,
    angle: Double = 3.141592653589793,
    selectedBy holder: MemberID? = nil,
    groups: [ObjectID]? = nil,
    isLocked: Bool? = nil,
    link: String = "https://example.org/?a=\"b\"",
    reaction: String = "👍🏽"
  ) -> ObjectSnapshot {
    ObjectSnapshot(
      id: id(number),
      kind: kind,
      centerPosition: center,
      size: size,
      scale: scale,
      angle: angle,
      selectedBy: holder ?? (isFull ? member(1) : nil),
      zIndex: [0x80, 0x0A],
      updatedAt: 1_795_000_000_123,
      color: isFull ? 0x12AB_34CD : nil,
      text: text,
      form: form,
      style: style ?? ObjectStyle(form: form),
      shownSize: size,
      outline: nil,
      start: isFull ? Binding(to: id(8), at: Point(x: 0.25, y: -0.5), isExact: true) : nil,
      end: isFull ? Binding(to: id(8)) : nil,
      ink: ink,
      lineWidth: kind == .drawing ? 2.5 : nil,
      isFinished: isFinished,
      erased: ink == nil ? nil : StrokeSpans(erased),
      groups: groups ?? (isFull ? [id(8), id(7)] : []),
      isLocked: isLocked ?? isFull,
      frame: isFull ? id(8) : nil,
      link: isFull ? link : nil,
      votes: isFull
        ? [Votes(reaction: reaction, members: [member(1), member(1)]), Votes(reaction: "\u{7}", members: [])] : [],
      crop: isFull ? Rectangle(Point(x: 0.25, y: 0), Point(x: 1, y: 0.75)) : nil,
      isFlippedHorizontally: isFull,
      isFlippedVertically: isFull,
      game: nil,
      asset: asset,
      isAssetAvailable: asset.map { _ in isFull }
    )
  }
}
