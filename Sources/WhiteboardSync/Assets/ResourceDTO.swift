import FoundationEssentials
import Whiteboard

/// The reason why the name of a resource is not one of this product.
public enum ResourceDTOError: Error, Hashable, Sendable {
  /// More than `ResourceDTO.byteLimit` bytes.
  case tooLong
  /// Not a JSON object of the fields that are needed.
  case malformed
}

/// The contents of the JSON name of one of this product's resources (BRD-20, SYN-13).
public struct ResourceDTO: Hashable, Sendable {
  /// The kind of resource.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A board, or a part of one.
    case whiteboard
    /// A text object.
    case text
    /// A photo object.
    case photo
    /// A drawing object.
    case drawing
    /// A game object.
    case game
    /// A line of the chat.
    case chat
    /// The bytes of a photo.
    case imageData
  }

  /// The most bytes that a name may have.
  public static let byteLimit = 16 << 10
  /// The most characters of an id.
  public static let idLimit = 64

  /// The id of the subject; for `imageData`, of an object that shows the asset.
  public let id: String
  /// The kind of resource.
  public let type: Kind
  /// Whether it tells of a deletion.
  public let isDeleted: Bool
  /// The SHA-256 of the bytes, if the resource has one.
  public let sha256: AssetID?
  /// The request that it answers, where it does (SYN-13).
  public let request: UInt64?
  /// How many bytes an answer has.
  public let byteCount: Int?

  /// A name of its parts.
  public init(
    id: String,
    type: Kind,
    isDeleted: Bool = false,
    sha256: AssetID? = nil,
    request: UInt64? = nil,
    byteCount: Int? = nil
  ) {
    self.id = id
    self.type = type
    self.isDeleted = isDeleted
    self.sha256 = sha256
    self.request = request
    self.byteCount = byteCount
  }

  /// Reads a name that may be hostile; fields that are not known are skipped.
  public init(name: String) throws(ResourceDTOError) {
    struct Form: Decodable {
      let id: String
      let type: String
      let isDeleted: Bool?
      let sha256: String?
      let request: UInt64?
      let byteCount: Int?
    }
    guard name.utf8.count <= Self.byteLimit else { throw .tooLong }
    guard Self.isShallow(name),
      let form = try? JSONDecoder().decode(Form.self, from: Data(name.utf8)),
      let type = Kind(rawValue: form.type), !form.id.isEmpty, form.id.utf8.count <= Self.idLimit
    else { throw .malformed }
    var sha256: AssetID?
    if let hex = form.sha256 {
      guard let id = AssetID(hex: hex) else { throw .malformed }
      sha256 = id
    }
    if let byteCount = form.byteCount, byteCount < 0 { throw .malformed }
    self.init(
      id: form.id,
      type: type,
      isDeleted: form.isDeleted ?? false,
      sha256: sha256,
      request: form.request,
      byteCount: form.byteCount
    )
  }

  /// The name as JSON on one line.
  public var name: String {
    var json = JSONObject()
    json.add("id", string: id)
    json.add("type", string: type.rawValue)
    json.add("isDeleted", isDeleted)
    if let sha256 { json.add("sha256", string: sha256.description) }
    if let request { json.add("request", Double(request)) }
    if let byteCount { json.add("byteCount", Double(byteCount)) }
    return json.text
  }

  /// Whether brackets nest at most 8 deep, so that no parser is led down.
  private static func isShallow(_ name: String) -> Bool {
    var depth = 0
    var isQuoted = false
    var isEscaped = false
    for byte in name.utf8 {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if !isQuoted, byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        depth += 1
        if depth > 8 { return false }
      } else if !isQuoted, byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
        depth -= 1
      }
    }
    return true
  }
}
