import Whiteboard

/// The photos whose bytes are here: how many bytes each author has, and all (BRD-38).
///
/// Sizes that objects state do not count, because they may be false.
struct PhotoBudget {
  private struct Photo {
    let author: MemberID?
    let bytes: Int
  }

  private var photos: [AssetID: Photo] = [:]
  private var ofAuthor: [MemberID: Int] = [:]
  private var total = 0

  /// Counts a photo whose bytes are here, for the author of the object that was seen first.
  mutating func count(_ id: AssetID, _ bytes: Int, of author: MemberID?) {
    remove(id)
    photos[id] = Photo(author: author, bytes: bytes)
    total += bytes
    if let author { ofAuthor[author, default: 0] += bytes }
  }

  /// Removes the photos that no object shows.
  mutating func removeAll(except shown: Set<AssetID>) {
    for id in photos.keys where !shown.contains(id) { remove(id) }
  }

  /// Returns whether a photo of an author can be requested.
  func hasRoom(for bytes: Int, of author: MemberID?) -> Bool {
    let authors = author.flatMap { ofAuthor[$0] } ?? 0
    return authors + bytes <= BoardLimits.photoBytesPerAuthor
      && total + bytes <= BoardLimits.photoBytesOfBoard
  }

  private mutating func remove(_ id: AssetID) {
    guard let photo = photos.removeValue(forKey: id) else { return }
    total -= photo.bytes
    if let author = photo.author { ofAuthor[author, default: 0] -= photo.bytes }
  }
}
