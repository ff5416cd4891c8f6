/// Pictures made smaller: each pixel of what comes out is the average of those it stands for.
package enum BoxFilter {
  /// The picture in `across` by `down` pixels.
  ///
  /// The four bytes of a pixel are averaged each for itself; those of a picture with transparency must be
  /// multiplied by its opacity. Where a picture is made larger, pixels are repeated.
  ///
  /// - Parameters:
  ///   - pixels: Row by row.
  ///   - stride: How many elements of `pixels` a row takes, at least `width`.
  ///   - width: Pixels across.
  ///   - height: Pixels down.
  ///   - across: Pixels across of what comes out.
  ///   - down: Pixels down of what comes out.
  /// - Returns: Row by row, without gaps.
  /// - Complexity: O(`width` times `height`).
  /// - Precondition: All numbers are above zero and `pixels` holds `height` rows.
  package static func averaged(
    _ pixels: Span<UInt32>,
    stride: Int,
    width: Int,
    height: Int,
    across: Int,
    down: Int
  ) -> [UInt32] {
    precondition(width > 0 && height > 0 && across > 0 && down > 0 && stride >= width)
    precondition((height - 1) * stride + width <= pixels.count)
    let columns = (0..<across).map { range($0, of: across, in: width) }
    var result: [UInt32] = []
    result.reserveCapacity(across * down)
    for y in 0..<down {
      let rows = range(y, of: down, in: height)
      for column in columns {
        var sums: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        for row in rows {
          var index = row * stride + column.lowerBound
          let end = row * stride + column.upperBound
          while index < end {
            let pixel = UInt64(pixels[index])
            sums.0 += pixel >> 24
            sums.1 += pixel >> 16 & 0xFF
            sums.2 += pixel >> 8 & 0xFF
            sums.3 += pixel & 0xFF
            index += 1
          }
        }
        let count = UInt64(rows.count * column.count)
        let half = count / 2
        result.append(
          UInt32((sums.0 + half) / count) << 24 | UInt32((sums.1 + half) / count) << 16
            | UInt32((sums.2 + half) / count) << 8 | UInt32((sums.3 + half) / count)
        )
      }
    }
    return result
  }

  /// The pixels that one of `count` stands for, of `size` in a row; at least one.
  private static func range(_ index: Int, of count: Int, in size: Int) -> Range<Int> {
    let first = index * size / count
    return first..<max(first + 1, (index + 1) * size / count)
  }
}

extension PhotoPixels {
  /// The photo in so many pixels at most, of the same shape; one that is not larger stays as it is.
  package func averaged(within width: Int, _ height: Int) -> PhotoPixels {
    let size = Self.size(of: (self.width, self.height), within: (width, height))
    guard size != (self.width, self.height) else { return self }
    return averaged(to: size.width, size.height)
  }

  /// The photo in exactly so many pixels, whatever its shape: one for each half cell, say.
  package func averaged(to width: Int, _ height: Int) -> PhotoPixels {
    PhotoPixels(
      width: max(width, 1),
      height: max(height, 1),
      pixels: BoxFilter.averaged(
        pixels.span,
        stride: self.width,
        width: self.width,
        height: self.height,
        across: max(width, 1),
        down: max(height, 1)
      )
    )
  }

  /// The size of the largest picture of a shape that fits into a limit and is no larger than it is.
  package static func size(
    of picture: (width: Int, height: Int),
    within limit: (width: Int, height: Int)
  ) -> (width: Int, height: Int) {
    let (width, height) = (max(picture.width, 1), max(picture.height, 1))
    let share = min(Double(limit.width) / Double(width), Double(limit.height) / Double(height), 1)
    return (
      min(max(Int((Double(width) * share).rounded()), 1), width),
      min(max(Int((Double(height) * share).rounded()), 1), height)
    )
  }
}
