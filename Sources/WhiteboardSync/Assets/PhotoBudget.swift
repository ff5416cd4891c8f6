import Whiteboard

/// The photos whose bytes are stored locally, and their total size for each author and for the board (BRD-38).
///
/// The sizes that objects state are not counted, because they may be false.
struct PhotoBudget {
  private struct Photo {
    let author: MemberID?
    let bytes: Int64
  }

  private var photos: [AssetID: Photo] = [:]
  private var ofAuthor: [MemberID: Int64] = [:]
  private var total: Int64 = 0

  /// Counts a photo whose bytes are stored locally.
  ///
  /// Its size is counted for the author of the first object that showed the photo.
  mutating func count(_ id: AssetID, _ bytes: Int64, of author: MemberID?) {
    remove(id)
    photos[id] = Photo(author: author, bytes: bytes)
    total += bytes
    if let author { ofAuthor[author, default: 0] += bytes }
  }

  /// Stops counting the photos that no object shows.
  mutating func removeAll(except shown: Set<AssetID>) { for id in photos.keys where !shown.contains(id) { remove(id) } }

  /// Returns whether a photo of an author can be requested without exceeding a limit.
  func hasRoom(for bytes: Int64, of author: MemberID?) -> Bool {
    let authors = author.flatMap { ofAuthor[$0] } ?? 0
    return authors + bytes <= BoardLimits.photoBytesPerAuthor && total + bytes <= BoardLimits.photoBytesOfBoard
  }

  private mutating func remove(_ id: AssetID) {
    guard let photo = photos.removeValue(forKey: id) else { return }
    total -= photo.bytes
    if let author = photo.author { ofAuthor[author, default: 0] -= photo.bytes }
  }
}
