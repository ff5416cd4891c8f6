import PeerCore

/// The identifier of an asset: the SHA-256 of its bytes.
public struct AssetID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The SHA-256 of the asset's bytes.
  public let value: Bytes32

  /// Creates an id; nil if `bytes` does not have exactly 32 bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard let value = Bytes32(bytes) else { return nil }
    self.value = value
  }

  /// Creates an id from its text form; nil unless `hex` is 64 lower-case hexadecimal digits.
  public init?(hex: String) {
    guard let bytes = Hexadecimal.decode(hex) else { return nil }
    self.init(bytes)
  }

  /// The 32 bytes of the hash.
  public var bytes: [UInt8] { value.bytes }

  /// The text form: 64 lower-case hexadecimal digits.
  public var description: String { value.hex }

  /// Compares two ids byte by byte.
  public static func < (lhs: AssetID, rhs: AssetID) -> Bool { lhs.value < rhs.value }
}

/// An image format that photos can have.
public enum PhotoFormat: UInt8, Hashable, Sendable {
  case jpeg = 1
  case png = 2

  /// The format's name: `jpeg` or `png`.
  public var name: String { self == .jpeg ? "jpeg" : "png" }
}

/// A photo object's reference to its bytes, which are transferred separately (BRD-16).
public struct AssetReference: Hashable, Sendable {
  /// The id of the asset: the SHA-256 of the bytes.
  public let id: AssetID
  /// The image format of the photo.
  public let format: PhotoFormat
  /// The number of bytes in the photo's file.
  public let byteCount: Int
  /// The width of the image in pixels.
  public let width: Int
  /// The height of the image in pixels.
  public let height: Int

  /// Creates a reference to photo bytes whose header was read.
  /// - Throws: `PhotoError.tooManyBytes` if `byteCount` is 0 or more than `BoardLimits.photoBytes`.
  public init(id: AssetID, byteCount: Int, header: PhotoHeader) throws(PhotoError) {
    guard byteCount >= 1, byteCount <= BoardLimits.photoBytes else { throw .tooManyBytes }
    self.id = id
    self.byteCount = byteCount
    format = header.format
    width = header.width
    height = header.height
  }

  package init?(_ value: Value) {
    guard case .bytes(let bytes) = value else { return nil }
    var reader = ByteReader(bytes)
    guard let hash = try? reader.take(32), let id = AssetID(hash), let formatByte = try? reader.byte(),
      let format = PhotoFormat(rawValue: formatByte), let byteCount = try? Int(exactly: reader.fixed32()),
      let width = try? Int(exactly: reader.fixed32()), let height = try? Int(exactly: reader.fixed32()),
      reader.remaining == 0, let header = try? PhotoHeader(format: format, width: width, height: height),
      let reference = try? AssetReference(id: id, byteCount: byteCount, header: header)
    else { return nil }
    self = reference
  }

  package var value: Value {
    var writer = ByteWriter()
    writer.raw(id.bytes)
    writer.byte(format.rawValue)
    writer.fixed32(UInt32(byteCount))
    writer.fixed32(UInt32(width))
    writer.fixed32(UInt32(height))
    return .bytes(writer.bytes)
  }
}

extension AssetReference {
  package func hasHeader(_ header: PhotoHeader) -> Bool {
    header.format == format && header.width == width && header.height == height
  }

  /// Returns the size, in board units, of a new photo whose pixels have this orientation.
  package func size(_ orientation: PhotoOrientation) -> Size {
    let longest = Double(max(width, height))
    let (across, down) = (
      Double(width) / longest * ObjectDefaults.photoSide, Double(height) / longest * ObjectDefaults.photoSide
    )
    return orientation.isSideways ? Size(width: down, height: across) : Size(width: across, height: down)
  }
}
