import PeerCore

/// The encoding of the pictures of a broadcast (CST-3).
public enum FrameCodec: String, CaseIterable, Hashable, Sendable {
  /// JPEG, which requires a library.
  case jpeg
  /// PNG, which requires a library.
  case png
  /// Three bytes for each pixel: red, green and blue, in rows from the top.
  case raw
}

/// The size of the pictures of a broadcast.
public struct FrameSize: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of a side, in pixels.
  public static let sideLimit = 4_096
  /// The maximum number of pixels.
  public static let pixelLimit = 1 << 23

  /// The width in pixels.
  public let width: Int
  /// The height in pixels.
  public let height: Int

  /// 1920 by 1080 pixels.
  public static let fullHD = FrameSize(checkedWidth: 1_920, checkedHeight: 1_080)

  private init(checkedWidth width: Int, checkedHeight height: Int) {
    self.width = width
    self.height = height
  }

  /// Creates a size; returns nil if it is empty or exceeds the limits.
  public init?(width: Int, height: Int) {
    guard (1...Self.sideLimit).contains(width), (1...Self.sideLimit).contains(height),
      width * height <= Self.pixelLimit
    else { return nil }
    self.width = width
    self.height = height
  }

  /// Parses a size such as `1920x1080`.
  public init?(_ text: String) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
    self.init(width: width, height: height)
  }

  /// The size in the form `1920x1080`.
  public var description: String { "\(width)x\(height)" }

  /// The area of the whole picture.
  public var area: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
}

/// A rectangle of pixels in a picture.
public struct PixelRect: Hashable, Sendable {
  /// The number of pixels to the left of the rectangle.
  public var x: Int
  /// The number of pixels above the rectangle.
  public var y: Int
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Creates a rectangle.
  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }

  /// Whether the rectangle contains no pixel.
  public var isEmpty: Bool { width <= 0 || height <= 0 }

  /// The number of pixels.
  public var pixelCount: Int { isEmpty ? 0 : width * height }

  /// Returns the smallest rectangle that contains both rectangles.
  public func union(_ other: PixelRect) -> PixelRect {
    guard !isEmpty else { return other }
    guard !other.isEmpty else { return self }
    let (left, top) = (min(x, other.x), min(y, other.y))
    return PixelRect(
      x: left,
      y: top,
      width: max(x + width, other.x + other.width) - left,
      height: max(y + height, other.y + other.height) - top
    )
  }

  /// Returns the common part of both rectangles, which can be empty.
  public func intersection(_ other: PixelRect) -> PixelRect {
    let (left, top) = (max(x, other.x), max(y, other.y))
    return PixelRect(
      x: left,
      y: top,
      width: max(0, min(x + width, other.x + other.width) - left),
      height: max(0, min(y + height, other.y + other.height) - top)
    )
  }

  /// Returns whether the rectangle contains the whole other rectangle.
  public func contains(_ other: PixelRect) -> Bool {
    other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
  }

  /// Returns the rectangle, extended so that its sides are multiples of 16 pixels, within `size`. A JPEG consists of
  /// blocks of this size, so that an aligned part looks the same as in the whole picture.
  func aligned(within size: FrameSize) -> PixelRect {
    let (left, top) = (x & ~15, y & ~15)
    let (right, bottom) = ((x + width + 15) & ~15, (y + height + 15) & ~15)
    return PixelRect(x: left, y: top, width: right - left, height: bottom - top).intersection(size.area)
  }
}

/// The pixels of a picture.
public struct FramePixels: Hashable, Sendable {
  /// The size of the picture.
  public let size: FrameSize
  /// The colors `0xRRGGBB` of the pixels, in rows from the top.
  public private(set) var pixels: [UInt32]

  /// Creates a picture; all pixels have one color.
  public init(size: FrameSize, color: UInt32 = 0xFFFFFF) {
    self.size = size
    pixels = [UInt32](repeating: color & 0xFF_FFFF, count: size.width * size.height)
  }

  /// Returns the pixels of a part of the picture, in rows.
  public func part(_ area: PixelRect) -> [UInt32] {
    let area = area.intersection(size.area)
    guard area != size.area else { return pixels }
    var result: [UInt32] = []
    result.reserveCapacity(area.pixelCount)
    for row in area.y..<(area.y + area.height) {
      let start = row * size.width + area.x
      result += pixels[start..<(start + area.width)]
    }
    return result
  }

  /// Replaces a part of the picture.
  ///
  /// - Parameter patch: The new pixels.
  /// - Returns: The parts that differ from the previous picture, with sides that are multiples of 16 pixels; nil if the
  ///   patch does not fit into the picture.
  @discardableResult public mutating func apply(_ patch: FramePatch) -> [PixelRect]? {
    let area = patch.area
    guard !area.isEmpty, size.area.contains(area), patch.pixels.count == area.pixelCount else { return nil }
    let changed = changes(in: patch)
    guard area != size.area else {
      pixels = patch.pixels
      return changed
    }
    for row in 0..<area.height {
      let start = (area.y + row) * size.width + area.x
      let source = row * area.width
      pixels.replaceSubrange(start..<(start + area.width), with: patch.pixels[source..<(source + area.width)])
    }
    return changed
  }

  /// Compares a patch with the picture in bands of 16 rows, and merges adjacent bands with changes in similar columns.
  private func changes(in patch: FramePatch) -> [PixelRect] {
    let area = patch.area
    var result: [PixelRect] = []
    var top = area.y
    while top < area.y + area.height {
      let bottom = min((top & ~15) + 16, area.y + area.height)
      var (first, last) = (Int.max, -1)
      pixels.withUnsafeBufferPointer { old in
        patch.pixels.withUnsafeBufferPointer { new in
          for row in top..<bottom {
            let (a, b) = (row * size.width + area.x, (row - area.y) * area.width)
            var (left, right) = (0, area.width)
            while left < right, old[a + left] == new[b + left] { left += 1 }
            guard left < right else { continue }
            while old[a + right - 1] == new[b + right - 1] { right -= 1 }
            first = min(first, left)
            last = max(last, right - 1)
          }
        }
      }
      if last >= 0 {
        let band = PixelRect(x: area.x + first, y: top, width: last - first + 1, height: bottom - top)
          .aligned(within: size)
        if let above = result.last, above.y + above.height == band.y,
          above.union(band).pixelCount * 3 <= (above.pixelCount + band.pixelCount) * 4
        {
          result[result.count - 1] = above.union(band)
        } else {
          result.append(band)
        }
      }
      top = bottom
    }
    return result
  }
}

/// The new pixels of a part of a picture.
public struct FramePatch: Hashable, Sendable {
  /// The part of the picture.
  public let area: PixelRect
  /// The colors `0xRRGGBB` of the part, in rows from the top.
  public let pixels: [UInt32]

  /// Creates a patch.
  public init(area: PixelRect, pixels: [UInt32]) {
    self.area = area
    self.pixels = pixels
  }
}

/// The properties of the pictures of a broadcast, which START contains (CST-4).
public struct BroadcastFormat: Hashable, Sendable {
  /// The allowed numbers of pictures per second.
  public static let rates = 1...60

  /// The size of each picture.
  public var size: FrameSize
  /// The maximum number of pictures per second.
  public var rate: Int
  /// The encoding of the pictures.
  public var codec: FrameCodec
  /// The part of the board that the pictures show, as the least and greatest coordinates in board units: `[x, y, x, y]`;
  /// nil if the pictures do not show a board.
  public var region: [Double]?

  /// Creates a format.
  public init(size: FrameSize, rate: Int, codec: FrameCodec, region: [Double]? = nil) {
    self.size = size
    self.rate = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
    self.codec = codec
    self.region = region
  }

  var json: String {
    var object = JSONObject()
    object.add("width", whole: size.width)
    object.add("height", whole: size.height)
    object.add("rate", whole: rate)
    object.add("codec", string: codec.rawValue)
    if let region { object.add("region", region) }
    return object.text
  }

  init?(_ fields: JSONTree) {
    guard let width = fields["width"]?.whole, let height = fields["height"]?.whole, let rate = fields["rate"]?.whole,
      let size = FrameSize(width: width, height: height), Self.rates.contains(rate),
      let codec = fields["codec"]?.string.flatMap(FrameCodec.init)
    else { return nil }
    if let value = fields["region"] {
      guard let region = value.numbers, region.count == 4, region[0] < region[2], region[1] < region[3] else {
        return nil
      }
      self.region = region
    }
    (self.size, self.rate, self.codec) = (size, rate, codec)
  }
}

/// The request of a viewer, which the viewer sends as the name of its stream (CST-1).
public struct BroadcastRequest: Hashable, Sendable {
  /// The maximum width of the pictures.
  public var maximumWidth: Int
  /// The maximum height of the pictures.
  public var maximumHeight: Int
  /// The maximum number of pictures per second.
  public var rate: Int
  /// The encodings that the viewer can decode, the best first.
  public var codecs: [FrameCodec]
  /// Whether the viewer can apply changes to the previous picture; otherwise, it receives only whole pictures.
  public var acceptsChanges: Bool

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - maximumWidth: The maximum width of the pictures.
  ///   - maximumHeight: The maximum height of the pictures.
  ///   - rate: The maximum number of pictures per second.
  ///   - codecs: The encodings that the viewer can decode, the best first.
  ///   - acceptsChanges: Whether the viewer can apply changes to the previous picture.
  public init(
    maximumWidth: Int = FrameSize.sideLimit,
    maximumHeight: Int = FrameSize.sideLimit,
    rate: Int = BroadcastFormat.rates.upperBound,
    codecs: [FrameCodec] = [.jpeg, .png, .raw],
    acceptsChanges: Bool = true
  ) {
    self.maximumWidth = min(max(maximumWidth, 1), FrameSize.sideLimit)
    self.maximumHeight = min(max(maximumHeight, 1), FrameSize.sideLimit)
    self.rate = min(max(rate, BroadcastFormat.rates.lowerBound), BroadcastFormat.rates.upperBound)
    self.codecs = codecs
    self.acceptsChanges = acceptsChanges
  }

  func admits(_ size: FrameSize) -> Bool { size.width <= maximumWidth && size.height <= maximumHeight }

  /// The name of the stream, as one line of JSON.
  public var name: String {
    var object = JSONObject()
    object.add("type", string: Self.type)
    object.add("width", whole: maximumWidth)
    object.add("height", whole: maximumHeight)
    object.add("rate", whole: rate)
    object.add("codecs", strings: codecs.map(\.rawValue))
    object.add("changes", acceptsChanges)
    return object.text
  }

  private static let type = "broadcast"

  /// Returns whether a stream is meant for a broadcast, even if its name is not a valid request.
  static func isMeant(by name: UntrustedText) -> Bool { fields(name.raw)?["type"]?.string == type }

  private static func fields(_ name: String) -> JSONTree? {
    guard name.utf8.first == UInt8(ascii: "{"), name.utf8.count <= 1_024 else { return nil }
    return try? JSONReader.read(Array(name.utf8), depthLimit: 4)
  }

  /// Parses the name of a stream; returns nil if the name is not the request of a viewer. Unknown keys and encodings are
  /// ignored.
  public init?(name: String) {
    guard let fields = Self.fields(name), fields["type"]?.string == Self.type,
      let names = fields["codecs"]?.strings
    else { return nil }
    codecs = names.compactMap { FrameCodec(rawValue: $0) }
    var (width, height, rate) = (FrameSize.sideLimit, FrameSize.sideLimit, BroadcastFormat.rates.upperBound)
    if let value = fields["width"] {
      guard let number = value.whole, number > 0 else { return nil }
      width = min(number, width)
    }
    if let value = fields["height"] {
      guard let number = value.whole, number > 0 else { return nil }
      height = min(number, height)
    }
    if let value = fields["rate"] {
      guard let number = value.whole, number > 0 else { return nil }
      rate = min(number, rate)
    }
    acceptsChanges = true
    if let value = fields["changes"] {
      guard let flag = value.flag else { return nil }
      acceptsChanges = flag
    }
    (maximumWidth, maximumHeight, self.rate) = (width, height, rate)
  }
}

extension JSONTree {
  /// The value as a whole number; nil if it is not a whole number below 2^53.
  fileprivate var whole: Int? { number.flatMap { $0.magnitude < 9_007_199_254_740_992 ? Int(exactly: $0) : nil } }
}
