/// A writer of an animated GIF (GIF89a), which repeats forever. Each frame has its own color table. Frames with more
/// than 255 colors are reduced to 255 colors.
package struct GIFEncoder: FilmEncoder {
  private let write: ([UInt8]) throws -> Void
  /// The last frame and its time in hundredths of a second; its duration is not known yet.
  private var pending: (frame: FilmFrame, time: Int64)?

  /// The longest duration of a frame, in hundredths of a second.
  private static let longest: Int64 = 0xFFFF

  /// Writes the head of the file.
  package init(width: Int, height: Int, write: @escaping ([UInt8]) throws -> Void) throws {
    self.write = write
    var head = Array("GIF89a".utf8)
    head += Self.bytes(width) + Self.bytes(height)
    // No global color table, background color 0, square pixels.
    head += [0x70, 0, 0]
    // The extension that repeats the film.
    head += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
    try write(head)
  }

  package mutating func add(_ frame: FilmFrame, at time: Int64) throws {
    let time = (time + 5) / 10
    try writePending(until: time)
    pending = (frame, time)
  }

  package mutating func finish(at time: Int64) throws {
    try writePending(until: (time + 5) / 10)
    pending = nil
    try write([0x3B])
  }

  private func writePending(until end: Int64) throws {
    guard var (frame, time) = pending else { return }
    while end - time > Self.longest {
      try write(frame, for: Self.longest)
      (frame, time) = (.unchanged, time + Self.longest)
    }
    try write(frame, for: max(end - time, 1))
  }

  private func write(_ frame: FilmFrame, for duration: Int64) throws {
    let (palette, indexes) = GIFPalette.colors(of: frame)
    let bits = max(palette.count, 3).bitWidth - (max(palette.count, 3) - 1).leadingZeroBitCount
    // Keep the frame when the next frame is drawn over it. The last color is transparent.
    var bytes: [UInt8] = [0x21, 0xF9, 4, 1 << 2 | 1]
    bytes += Self.bytes(Int(duration)) + [UInt8(palette.count - 1), 0]
    bytes += [0x2C] + Self.bytes(frame.x) + Self.bytes(frame.y)
    bytes += Self.bytes(frame.width) + Self.bytes(frame.height) + [0x80 | UInt8(bits - 1)]
    for index in 0..<1 << bits {
      let color = index < palette.count ? palette[index] : 0
      bytes += [UInt8(color >> 16 & 0xFF), UInt8(color >> 8 & 0xFF), UInt8(color & 0xFF)]
    }
    bytes.append(UInt8(bits))
    let data = LZW.compressed(indexes, bits: bits)
    for start in stride(from: 0, to: data.count, by: 255) {
      let block = data[start..<min(start + 255, data.count)]
      bytes.append(UInt8(block.count))
      bytes += block
    }
    try write(bytes + [0])
  }

  private static func bytes(_ number: Int) -> [UInt8] { [UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)] }
}

/// The compression of GIF: codes of up to 12 bits for sequences of bytes that occurred before.
enum LZW {
  private static let largestCode = 4_095

  /// Returns the codes of the bytes, each below 2 to the power of `bits`.
  static func compressed(_ bytes: [UInt8], bits: Int) -> [UInt8] {
    let (clear, end) = (1 << bits, 1 << bits + 1)
    var (next, size) = (end + 1, bits + 1)
    var output: [UInt8] = []
    var (buffer, count) = (UInt32(0), 0)
    func emit(_ code: Int) {
      buffer |= UInt32(code) << UInt32(count)
      count += size
      while count >= 8 {
        output.append(UInt8(truncatingIfNeeded: buffer))
        buffer >>= 8
        count -= 8
      }
    }
    // A hash table from a code and the byte after it, plus 1, to the code of both. It is at most a quarter full.
    let slots = 1 << 14
    var keys = [UInt32](repeating: 0, count: slots)
    var codes = [UInt16](repeating: 0, count: slots)
    emit(clear)
    guard let first = bytes.first else {
      emit(end)
      return output + (count > 0 ? [UInt8(truncatingIfNeeded: buffer)] : [])
    }
    var code = Int(first)
    for byte in bytes.dropFirst() {
      let key = UInt32(code) << 8 | UInt32(byte) + 1
      var slot = Int((key &* 0x9E37_79B1) >> 18)
      while keys[slot] != 0, keys[slot] != key { slot = (slot + 1) & (slots - 1) }
      guard keys[slot] != key else {
        code = Int(codes[slot])
        continue
      }
      emit(code)
      code = Int(byte)
      guard next <= largestCode else {
        emit(clear)
        (next, size) = (end + 1, bits + 1)
        keys = [UInt32](repeating: 0, count: slots)
        continue
      }
      if next == 1 << size { size += 1 }
      (keys[slot], codes[slot]) = (key, UInt16(next))
      next += 1
    }
    emit(code)
    // The decoder adds the last sequence too, and then may read longer codes.
    if next == 1 << size, size < 12 { size += 1 }
    emit(end)
    if count > 0 { output.append(UInt8(truncatingIfNeeded: buffer)) }
    return output
  }
}

/// The choice of the colors of a frame.
enum GIFPalette {
  /// The largest number of colors besides the transparent color.
  static let limit = 255

  /// Returns the colors that the changed pixels need, and the index of each pixel. The last color is for pixels that did
  /// not change.
  static func colors(of frame: FilmFrame) -> (colors: [UInt32], indexes: [UInt8]) {
    exact(frame.pixels) ?? reduced(frame.pixels)
  }

  private static func exact(_ pixels: [UInt32]) -> (colors: [UInt32], indexes: [UInt8])? {
    var colors: [UInt32] = []
    var known: [UInt32: UInt8] = [:]
    var indexes = [UInt8](repeating: 0, count: pixels.count)
    var (last, lastIndex) = (UInt32(0), UInt8(0))
    for (place, pixel) in pixels.enumerated() where pixel & FilmFrame.changed != 0 {
      if pixel != last {
        last = pixel
        if let index = known[pixel] {
          lastIndex = index
        } else {
          guard colors.count < limit else { return nil }
          lastIndex = UInt8(colors.count)
          known[pixel] = lastIndex
          colors.append(pixel & 0xFF_FFFF)
        }
      }
      indexes[place] = lastIndex
    }
    let transparent = UInt8(colors.count)
    for place in indexes.indices where pixels[place] & FilmFrame.changed == 0 { indexes[place] = transparent }
    return (colors + [0], indexes)
  }

  /// A group of similar colors, as a range of the sorted bins.
  private struct Box {
    var bins: Range<Int>
    var count: Int
    /// The channel in which the colors differ most, as the shift of its bits in a bin.
    var shift = 0
    /// The difference in that channel.
    var extent = 0

    var priority: Int { extent == 0 ? 0 : count * extent }
  }

  /// Divides the colors into boxes at medians, and uses the mean color of each box.
  private static func reduced(_ pixels: [UInt32]) -> (colors: [UInt32], indexes: [UInt8]) {
    // A bin has five bits for each channel.
    func bin(_ pixel: UInt32) -> Int {
      Int(pixel >> 19 & 0x1F) << 10 | Int(pixel >> 11 & 0x1F) << 5 | Int(pixel >> 3 & 0x1F)
    }
    var counts = [Int](repeating: 0, count: 1 << 15)
    var sums = [(red: Int, green: Int, blue: Int)](repeating: (0, 0, 0), count: 1 << 15)
    for pixel in pixels where pixel & FilmFrame.changed != 0 {
      let bin = bin(pixel)
      counts[bin] += 1
      sums[bin].red += Int(pixel >> 16 & 0xFF)
      sums[bin].green += Int(pixel >> 8 & 0xFF)
      sums[bin].blue += Int(pixel & 0xFF)
    }
    var bins = counts.indices.filter { counts[$0] > 0 }
    func box(_ range: Range<Int>) -> Box {
      var box = Box(bins: range, count: bins[range].reduce(0) { $0 + counts[$1] })
      for shift in [10, 5, 0] {
        let values = bins[range].lazy.map { $0 >> shift & 0x1F }
        let extent = (values.max() ?? 0) - (values.min() ?? 0)
        if extent > box.extent { (box.shift, box.extent) = (shift, extent) }
      }
      return box
    }
    var boxes = [box(bins.indices)]
    while boxes.count < limit {
      guard let widest = boxes.indices.max(by: { boxes[$0].priority < boxes[$1].priority }), boxes[widest].extent > 0
      else { break }
      let whole = boxes[widest]
      bins[whole.bins].sort { ($0 >> whole.shift & 0x1F, $0) < ($1 >> whole.shift & 0x1F, $1) }
      // Both parts get at least one bin.
      var (middle, passed) = (whole.bins.lowerBound + 1, counts[bins[whole.bins.lowerBound]])
      while middle < whole.bins.upperBound - 1, passed * 2 < whole.count {
        passed += counts[bins[middle]]
        middle += 1
      }
      boxes[widest] = box(whole.bins.lowerBound..<middle)
      boxes.append(box(middle..<whole.bins.upperBound))
    }
    var index = [UInt8](repeating: 0, count: 1 << 15)
    let colors = boxes.enumerated().map { number, box in
      var sum = (red: 0, green: 0, blue: 0)
      for bin in bins[box.bins] {
        index[bin] = UInt8(number)
        sum = (sum.red + sums[bin].red, sum.green + sums[bin].green, sum.blue + sums[bin].blue)
      }
      func mean(_ sum: Int) -> UInt32 { UInt32((sum + box.count / 2) / max(box.count, 1)) }
      return mean(sum.red) << 16 | mean(sum.green) << 8 | mean(sum.blue)
    }
    let transparent = UInt8(colors.count)
    let indexes = pixels.map { $0 & FilmFrame.changed != 0 ? index[bin($0)] : transparent }
    return (colors + [0], indexes)
  }
}
