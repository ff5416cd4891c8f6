/// Converts pictures in formats that boards cannot contain to photos; this needs libraries that not
/// every program has.
package protocol PhotoConverter: Sendable {
  /// Converts a WebP picture to a JPEG or PNG.
  ///
  /// - Throws: ``PhotoConversionError`` with the reason.
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8]
}

/// The reason why a picture could not be converted to a photo.
package struct PhotoConversionError: Error, Hashable, Sendable {
  /// The problem with the picture, worded to follow the name of its file.
  package let message: String

  /// Creates an error with a message.
  package init(_ message: String) { self.message = message }
}
