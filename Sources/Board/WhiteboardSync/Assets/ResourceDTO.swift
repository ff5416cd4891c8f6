import PeerCore
import Whiteboard

/// The reason why a resource name is invalid.
public enum ResourceDTOError: Error, Hashable, Sendable {
  case tooLong
  case malformed
}

/// The content of a resource name.
///
/// The name is JSON (BRD-20, SYN-13).
public struct ResourceDTO: Hashable, Sendable {
  /// The kind of resource.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A board, or a part of a board.
    case whiteboard
    case text
    case photo
    case drawing
    case game
    case chat
    /// The bytes of a photo.
    case imageData
  }

  /// The maximum number of bytes in a name.
  public static let byteLimit = 16 << 10
  private static let depthLimit = 8
  /// The maximum number of characters in an id.
  public static let idLimit = 64

  /// The id of the board or object; for `imageData`, the id of an object that shows the asset.
  public let id: String
  /// The kind of resource.
  public let type: Kind
  /// Whether the board or object was deleted.
  public let isDeleted: Bool
  /// The SHA-256 of the bytes, if the resource has one.
  public let sha256: AssetID?
  /// The number of the request that the resource answers (SYN-13); nil if the resource is not an answer.
  public let request: UInt64?
  /// The number of bytes in an answer.
  public let byteCount: Int?

  /// Creates a name from its parts.
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

  /// Decodes an untrusted name.
  ///
  /// Unknown fields are skipped.
  public init(name: String) throws(ResourceDTOError) {
    guard name.utf8.count <= Self.byteLimit else { throw .tooLong }
    guard let fields = try? JSONReader.read(Array(name.utf8), depthLimit: Self.depthLimit),
      let id = fields["id"]?.string, let type = fields["type"]?.string.flatMap(Kind.init), !id.isEmpty,
      id.utf8.count <= Self.idLimit
    else { throw .malformed }
    self.id = id
    self.type = type
    isDeleted = try Self.optional(fields["isDeleted"]) { $0.flag } ?? false
    sha256 = try Self.optional(fields["sha256"]) { $0.string.flatMap { AssetID(hex: $0) } }
    request = try Self.optional(fields["request"]) { $0.number.flatMap { UInt64(exactly: $0) } }
    byteCount = try Self.optional(fields["byteCount"]) { value in
      value.number.flatMap { $0 < 0 ? nil : Int(exactly: $0) }
    }
  }

  private static func optional<Value>(_ field: JSONTree?, _ value: (JSONTree) -> Value?) throws(ResourceDTOError)
    -> Value?
  {
    guard let field else { return nil }
    guard let value = value(field) else { throw .malformed }
    return value
  }

  /// The name as one line of JSON.
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
}
