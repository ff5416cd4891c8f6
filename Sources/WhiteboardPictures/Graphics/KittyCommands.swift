import WhiteboardRendering

/// The commands of the kitty graphics protocol.
///
/// All commands contain `q=2`, so that the terminal sends no reply. The program would read a reply as typed text.
package enum KittyCommands {
  /// The maximum number of bytes in one chunk of a photo.
  static let chunk = 4096

  /// Returns the command that sends a photo with the number `image`, without showing it.
  static func transmit(_ photo: TerminalPhoto, as image: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(photo.png.count + photo.png.count / chunk * 12 + 64)
    var start = 0
    repeat {
      let end = min(start + chunk, photo.png.count)
      let more = end < photo.png.count ? 1 : 0
      let head = start == 0 ? "a=t,f=100,i=\(image),q=2,m=\(more)" : "m=\(more)"
      bytes += Array("\u{1B}_G\(head);".utf8) + photo.png[start..<end] + Array("\u{1B}\\".utf8)
      start = end
    } while start < photo.png.count
    return bytes
  }

  /// Returns the command that shows a part of a photo in some cells, or moves it to these cells.
  ///
  /// The cursor stays at the first of these cells.
  static func place(_ image: Int, _ placement: Int, part: PixelArea, in area: CellArea, z: Int) -> [UInt8] {
    let keys =
      "a=p,i=\(image),p=\(placement),x=\(part.x),y=\(part.y),w=\(part.width),h=\(part.height),"
      + "c=\(area.width),r=\(area.height),z=\(z),C=1,q=2"
    return TerminalPlace.moved(to: area.columns.lowerBound, area.rows.lowerBound)
      + Array("\u{1B}_G\(keys)\u{1B}\\".utf8)
  }

  /// Returns the command that removes one placement of a photo.
  ///
  /// The terminal keeps the photo, so it can be shown again.
  static func remove(_ image: Int, _ placement: Int) -> [UInt8] {
    Array("\u{1B}_Ga=d,d=i,i=\(image),p=\(placement),q=2\u{1B}\\".utf8)
  }

  /// Returns the command that removes all placements of a photo and deletes its data.
  static func forget(_ image: Int) -> [UInt8] { Array("\u{1B}_Ga=d,d=I,i=\(image),q=2\u{1B}\\".utf8) }
}

/// Commands that move the cursor of a terminal and erase cells.
enum TerminalPlace {
  /// Returns the command that moves the cursor to a cell, counted from 0.
  static func moved(to x: Int, _ y: Int) -> [UInt8] { Array("\u{1B}[\(y + 1);\(x + 1)H".utf8) }

  /// Returns the command that makes cells blank, in the terminal's default colors.
  static func erased(_ area: CellArea) -> [UInt8] {
    guard !area.isEmpty else { return [] }
    return Array("\u{1B}[0m".utf8)
      + area.rows.flatMap { row in moved(to: area.columns.lowerBound, row) + Array("\u{1B}[\(area.width)X".utf8) }
  }
}
