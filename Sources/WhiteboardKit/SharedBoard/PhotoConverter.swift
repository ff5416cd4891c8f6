/// Makes photos of pictures that no board takes as they are, which takes libraries that not every program has.
package protocol PhotoConverter: Sendable {
  /// A WebP as a JPEG or PNG.
  /// - Throws: ``PhotoConversionError`` with the reason.
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8]
}

/// The reason why a picture could not be converted to a photo.
package struct PhotoConversionError: Error, Hashable, Sendable {
  /// The problem with the picture, in words that follow its name.
  package let message: String

  /// An error that says this.
  package init(_ message: String) { self.message = message }
}
