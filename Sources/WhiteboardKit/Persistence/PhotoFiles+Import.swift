import Crypto
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardExport
import WhiteboardSync

/// Photos that the local user adds to the board.
extension PhotoFiles {
  /// Reads a photo from a user's file, and stores it in the photo directory.
  ///
  /// - Returns: The reference for the board, and the upright size of the photo on the board.
  nonisolated(nonsending) func importPhoto(_ file: String) async throws(CommandError) -> (AssetReference, Size) {
    defer { checkIsolation(#isolation) }
    let bytes = try await Self.readPhoto(file, configuration.photos)
    let reference: AssetReference
    do throws(PhotoError) {
      let header = try PhotoHeader(ofWhole: bytes)
      guard let id = AssetID(Array(SHA256.hash(data: bytes))) else { throw .malformed }
      reference = try AssetReference(id: id, byteCount: bytes.count, header: header)
    } catch {
      let shown = UntrustedText(file).quoted(limit: 256)
      switch error {
      case .unknownFormat: throw CommandError(.notAPhoto, "\(shown) is neither JPEG nor PNG")
      case .malformed: throw CommandError(.notAPhoto, "\(shown) is a damaged JPEG or PNG")
      case .truncated: throw CommandError(.notAPhoto, "\(shown) ends before its picture is complete")
      case .tooManyPixels:
        throw CommandError(.tooBig, "\(shown) has too many pixels; at most \(BoardLimits.photoPixels) are allowed")
      case .tooManyBytes:
        throw CommandError(.tooBig, "\(shown) is empty, or has more than \(BoardLimits.photoBytes) bytes")
      }
    }
    try store(bytes, reference)
    return (reference, reference.size(PhotoHeader.orientation(of: bytes)))
  }

  /// Reads a photo without blocking the board; converts WebP if the program supports it.
  @concurrent private static func readPhoto(_ file: String, _ converter: (any PhotoConverter)?)
    async throws(CommandError) -> [UInt8]
  {
    let bytes = try FileReading.whole(file, limit: BoardLimits.photoBytes)
    guard let converter, PhotoHeader.isWebP(bytes) else { return bytes }
    do throws(PhotoConversionError) { return try converter.photo(ofWebP: bytes) } catch {
      throw CommandError(
        .notAPhoto,
        "\(UntrustedText(file).quoted(limit: 256)): \(UntrustedText(error.message).escaped())"
      )
    }
  }

  /// Writes the file of a photo and records the photo; the next answer confirms that it is stored.
  func store(_ bytes: [UInt8], _ reference: AssetReference) throws(CommandError) {
    do throws(BoardError) { try replica?.requireRoom(for: reference) } catch {
      throw CommandError(error) { members.label(of: $0) }
    }
    let path = path(reference.id, reference.format)
    // Replaces an existing file, which may be damaged.
    do throws(OutputFile.WriteError) { try OutputFile.write(bytes, to: path, isReplacing: true) } catch {
      throw CommandError(.fileUnwritable, "the photo is not on the board: \(error.message)")
    }
    add(reference.id, at: path)
    persistence.recordPhoto(reference.id, at: path, isAwaited: true)
  }
}
