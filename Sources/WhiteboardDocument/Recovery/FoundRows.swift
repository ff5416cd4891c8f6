/// The rows of a file whose checksums match.
///
/// Several rows can have the same number, since freed pages retain their old rows until SQLite uses the pages again.
struct FoundRows {
  var meta: [String: String] = [:]
  /// The row of the table `identity`; nil if it was not found.
  var identity: StoredIdentity?
  var rows: [Int64: [StoredLogRow]] = [:]
  var keyframes: [Int64: StoredKeyframe] = [:]
  var authors: [UInt64: StoredAuthor] = [:]
  var marks: [Int64: StoredMark] = [:]
  var assets: [PageScanner.Place] = []
  var traffic: [Int64: LogRow] = [:]

  /// Adds a row, if it matches its checksum.
  mutating func add(_ place: PageScanner.Place, _ rowid: Int64, _ stored: [StoredValue]) {
    var columns = stored
    // A row's number is not stored among its columns. Rows of `meta` have no number.
    if columns.first == .null { columns[0] = .integer(rowid) }
    switch columns.count {
    case 5:
      if let found = LogRow.checked(columns) {
        if rows[found.row.id]?.contains(where: { $0.sum == found.sum }) != true {
          rows[found.row.id, default: []].append(found)
        }
      } else if let found = LogRow.checked(columns, in: LogRow.traffic) {
        traffic[found.row.id] = found.row
      } else if let author = StoredAuthor(columns) {
        add(author)
      }
    case 9: if let keyframe = StoredKeyframe(columns) { keyframes[keyframe.id] = keyframe }
    case 7: if let mark = StoredMark(columns) { marks[mark.id] = mark }
    case 4: identity = identity ?? StoredIdentity(columns)
    case 3:
      if let key = columns[0].text, let value = columns[1].text, columns[2].integer == Int64(Meta.checksum(key, value))
      {
        meta[key] = value
      } else if columns[1].blob?.count == AssetHash.length, columns[2].blob != nil {
        assets.append(place)
      }
    default: break
    }
  }

  private mutating func add(_ author: StoredAuthor) {
    if let known = authors[author.incarnation], !author.isNewer(than: known) { return }
    authors[author.incarnation] = author
  }
}

extension StoredAuthor {
  /// Returns whether the row is at least as recent and complete as another row of the same incarnation.
  func isNewer(than other: StoredAuthor) -> Bool { sequence >= other.sequence && record.count >= other.record.count }
}
