/// The whole state of a board at one moment.
public struct Keyframe: Hashable, Sendable {
  /// The state in encoded form.
  public let bytes: [UInt8]
  /// The digest that a board in this state must have.
  public let digest: [UInt8]
  /// The time when the keyframe was written, in milliseconds since 1970.
  public let time: Int64
}

/// The content of a document: the state in a keyframe, and the entries after it.
public struct DocumentContent: Hashable, Sendable {
  /// The newest intact keyframe; nil if there is none.
  public let keyframe: Keyframe?
  /// The batches and answers after the keyframe, in order.
  public let entries: [DocumentEntry]
  /// The records and heads of all author incarnations.
  public let authors: [StoredAuthor]
  /// Descriptions of damage that did not prevent reading the content.
  public let notes: [String]

  /// Creates content from its parts.
  public init(keyframe: Keyframe?, entries: [DocumentEntry], authors: [StoredAuthor], notes: [String]) {
    self.keyframe = keyframe
    self.entries = entries
    self.authors = authors
    self.notes = notes
  }
}
