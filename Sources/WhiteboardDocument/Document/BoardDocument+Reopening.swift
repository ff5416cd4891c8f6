import Foundation

/// Opening documents on a disk that accepts no data at present.
extension BoardDocument {
  /// Opens a document for writing, or for reading if its disk accepts no data at present.
  ///
  /// If the document is opened for reading, ``obstacle`` is the reason, and all writes fail with that error.
  /// ``reopen()`` opens the document for writing once the disk accepts data again.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - seal: The seal of the facts that the program uses and writes; nil if it does not use them.
  ///   - reservation: The file's reservation, if the caller has one; see ``BoardLibrary/reserve(board:)``.
  /// - Returns: The open document.
  /// - Throws: The error from opening the document for writing. If the disk accepts no data, this error is thrown only
  ///   if the document cannot be opened for reading either.
  public static func openForWritingOrReading(
    at path: String,
    seal: DocumentSeal? = nil,
    holding reservation: BoardReservation? = nil
  ) async throws(DocumentError) -> BoardDocument {
    do throws(DocumentError) { return try await open(at: path, mode: .writing, seal: seal, holding: reservation) } catch
    {
      guard [.full, .quota, .readOnly, .inputOutput].contains(error.code),
        let opened = try? await Blocking.run(path, { try OpenedDocument(path, .reading, expecting: nil, seal: seal) })
      else { throw error }
      return BoardDocument(opened, obstacle: error)
    }
  }

  /// Opens this document for writing if it is open only for reading.
  ///
  /// - Returns: The document that is open for writing: this document if it already was; otherwise a new one, and this
  ///   document is closed.
  /// - Throws: The error from opening the document for writing; `inUse` if another program changed the file since this
  ///   document was opened. If it throws, this document is unchanged.
  public func reopen() async throws(DocumentError) -> BoardDocument {
    try checkOpen()
    guard mode == .reading else { return self }
    let document = try await openAgain()
    // The board in memory does not have the other program's changes, so saving that board would hide these changes.
    guard await document.tail.text == tail.text else {
      try? await document.close()
      throw DocumentError(
        .inUse,
        "\(path): another program changed the file; save a copy elsewhere, and open the board again"
      )
    }
    try? await close()
    return document
  }
}
