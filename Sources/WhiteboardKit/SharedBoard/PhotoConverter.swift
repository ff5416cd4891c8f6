/// A converter of pictures in other formats to photos that boards support.
///
/// The conversion needs libraries that not every program contains.
package protocol PhotoConverter: Sendable {
  /// Converts a WebP picture to a JPEG or PNG.
  ///
  /// - Throws: ``PhotoConversionError`` with the reason.
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8]
}

/// The reason why a picture could not be converted to a photo.
package struct PhotoConversionError: Error, Hashable, Sendable {
  /// The problem with the picture, worded so that it can follow the file name.
  package let message: String

  /// Creates an error with a message.
  package init(_ message: String) { self.message = message }
}
