struct WALFrame: Hashable, Sendable {
  struct Flip: Hashable, Sendable {
    /// The offset of the byte in the page.
    let offset: Int
    /// A mask with the damaged bit of the byte.
    let mask: UInt8
  }

  static let headerSize = 24

  /// The number of the page; 0 if it is damaged.
  let page: Int
  /// The number of pages of the database after the commit; 0 if the frame ends no transaction.
  let commit: Int
  /// Whether the page number and the content, after ``flip`` is applied, are as they were written.
  fileprivate(set) var isIntact: Bool
  /// The damaged bit of the content; nil if no bit is damaged, or if the damaged bit is unknown.
  fileprivate(set) var flip: Flip?

  static func offset(_ index: Int, pageSize: Int) -> Int { WALHeader.size + index * (headerSize + pageSize) }

  func repair(_ content: inout [UInt8]) {
    if let flip, flip.offset < content.count { content[flip.offset] ^= flip.mask }
  }
}

/// The frames of the current round of a WAL file, in order. A round begins when SQLite overwrites the WAL file from its
/// beginning, with new salts in each frame. Frames that SQLite does not reach because of an earlier damaged frame are
/// included.
struct WALFrames: Sendable {
  private(set) var frames: [WALFrame] = []
  /// The number of frames that SQLite uses: up to the last commit that it reaches.
  private(set) var usable = 0
  /// The index of the first frame that SQLite does not use; nil if SQLite uses all frames.
  private(set) var firstUnused: Int?
  /// The possible repairs of each damaged frame for which several bit flips would explain the damage.
  private(set) var candidates: [Int: [WALFrame]] = [:]

  var committed: Int { (frames.lastIndex { $0.commit > 0 } ?? -1) + 1 }

  var isIntact: Bool { frames.prefix(committed).allSatisfy(\.isIntact) }

  init() {}

  /// Reads the frames up to the last frame of the round, and corrects single damaged bits.
  init(_ log: RawFile, _ count: Int, pageSize: Int, salts: [UInt8], isHeaderIntact: Bool) {
    func offset(_ slot: Int) -> Int { WALFrame.offset(slot, pageSize: pageSize) }
    let header = log.bytes(at: 0, WALHeader.size)
    let isBigEndian = header.count > 3 && header[3] & 1 == 1
    let last = (0..<count).last { log.bytes(at: offset($0) + 8, 8) == salts } ?? -1
    // The stored checksum of the previous frame. If that checksum does not match, `suspect` is the previous frame.
    var (stored, suspect) = (WALChecksum(header, at: 24), Suspect?.none)
    var isReached = isHeaderIntact
    for slot in 0..<count {
      let head = log.bytes(at: offset(slot), WALFrame.headerSize)
      let content = log.bytes(at: offset(slot) + WALFrame.headerSize, pageSize)
      guard head.count == WALFrame.headerSize, content.count == pageSize else { break }
      let bytes = head[..<8] + content
      let expected = WALChecksum(head, at: 16)
      let found = stored.adding(bytes, isBigEndian)
      // If only the stored checksum of the previous frame was damaged, that frame is intact.
      let follows = found != expected && suspect?.found.adding(bytes, isBigEndian) == expected
      // Salts can be damaged too, because the checksum does not cover them. A frame of an earlier round can follow
      // another frame of that round, but not an intact frame of this round.
      guard slot <= last || (found == expected && suspect == nil) || follows else { break }
      if let suspect, found == expected { correct(slot - 1, suspect, isBigEndian) }
      if follows { frames[slot - 1].isIntact = true }
      let page = SQLiteFormat.number(head, 0)
      let isIntact = (found == expected || follows) && page > 0
      let commit = SQLiteFormat.number(head, 4)
      frames.append(WALFrame(page: page, commit: commit, isIntact: isIntact))
      isReached = isReached && found == expected && page > 0 && Array(head[8..<16]) == salts
      if isReached, commit > 0 { usable = slot + 1 }
      if !isReached, firstUnused == nil { firstUnused = slot }
      suspect = isIntact ? nil : Suspect(bytes: Array(bytes), before: stored, found: found, expected: expected)
      stored = expected
    }
    // In the last frame, if only the second sum differs, the checksum itself may be damaged.
    if let suspect, suspect.found.first != suspect.expected.first { correct(frames.count - 1, suspect, isBigEndian) }
  }

  func replacing(_ slot: Int, with candidate: WALFrame) -> WALFrames {
    var copy = self
    copy.frames[slot] = candidate
    copy.candidates = [:]
    return copy
  }

  /// Maps each page to the index of its newest frame among the first `count` frames.
  func newest(upTo count: Int) -> [Int: Int] {
    var newest: [Int: Int] = [:]
    for (slot, frame) in frames.prefix(count).enumerated() { newest[frame.page] = slot }
    return newest
  }

  /// A frame whose checksum does not match, with the values for correcting it.
  private struct Suspect {
    /// The first eight bytes of the frame's header, and its page.
    let bytes: [UInt8]
    let before: WALChecksum
    let found: WALChecksum
    let expected: WALChecksum
  }

  /// Repairs a frame by the bit flip that makes it match its checksum. The checksum does not distinguish high bits of
  /// different words. If several bit flips are possible, the frame stays damaged, and ``candidates`` has the possible
  /// repairs.
  private mutating func correct(_ slot: Int, _ suspect: Suspect, _ isBigEndian: Bool) {
    let flips = WALChecksum.flips(suspect.bytes.count, from: suspect.found, to: suspect.expected, isBigEndian)
    let right = flips.compactMap { flip -> WALFrame? in
      var bytes = suspect.bytes
      bytes[flip.offset] ^= flip.mask
      guard suspect.before.adding(bytes[...], isBigEndian) == suspect.expected else { return nil }
      let (page, commit) = (SQLiteFormat.number(bytes, 0), SQLiteFormat.number(bytes, 4))
      let content = flip.offset < 8 ? nil : WALFrame.Flip(offset: flip.offset - 8, mask: flip.mask)
      return WALFrame(page: page, commit: commit, isIntact: true, flip: content)
    }
    if right.count == 1 { frames[slot] = right[0] }
    if right.count > 1 { candidates[slot] = right }
  }
}
