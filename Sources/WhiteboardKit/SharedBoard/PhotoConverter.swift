/// A converter of pictures in other formats to photos that boards support.
///
/// The conversion needs libraries that not every program contains.
package protocol PhotoConverter: Sendable {
  /// Converts a WebP picture to a JPEG or PNG; throws ``PhotoConversionError`` with the reason.
  func photo(ofWebP bytes: [UInt8]) throws(PhotoConversionError) -> [UInt8]
}

package struct PhotoConversionError: Error, Hashable, Sendable {
  /// The problem with the picture, worded so that it can follow the file name.
  package let message: String

  package init(_ message: String) { self.message = message }
}
