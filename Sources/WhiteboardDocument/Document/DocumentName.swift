/// The rules for names of boards, versions and markers.
enum DocumentName {
  /// The maximum length of a name, in bytes of UTF-8.
  static let limit = 128

  /// Checks a name.
  /// - Throws: `badName` if the name is empty, too long, or contains a zero byte.
  static func check(_ name: String) throws(DocumentError) {
    guard !name.isEmpty, name.utf8.count <= limit, !name.utf8.contains(0) else {
      throw DocumentError(.badName, "a name must have 1 to \(limit) bytes; choose another name")
    }
  }
}
