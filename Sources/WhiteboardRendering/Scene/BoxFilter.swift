/// Each pixel of the result is the average of the pixels that it replaces.
package enum BoxFilter {
  /// Returns the picture scaled to `across` by `down` pixels.
  ///
  /// The four bytes of a pixel are averaged separately, so the colors of a picture with transparency must be
  /// premultiplied. If a picture is enlarged, pixels are repeated.
  ///
  /// - Parameters:
  ///   - pixels: The pixels, row by row.
  ///   - stride: The number of elements of `pixels` per row, at least `width`.
  ///   - width: The width of the picture in pixels.
  ///   - height: The height of the picture in pixels.
  ///   - across: The width of the result in pixels.
  ///   - down: The height of the result in pixels.
  /// - Returns: The pixels of the result, row by row, without gaps.
  /// - Complexity: O(`width` times `height`).
  /// - Precondition: All numbers are positive and `pixels` contains `height` rows.
  package static func averaged(_ pixels: Span<UInt32>, stride: Int, width: Int, height: Int, across: Int, down: Int)
    -> [UInt32]
  {
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
          UInt32((sums.0 + half) / count) << 24 | UInt32((sums.1 + half) / count) << 16 | UInt32(
            (sums.2 + half) / count
          ) << 8 | UInt32((sums.3 + half) / count)
        )
      }
    }
    return result
  }

  /// Returns the range of pixels that pixel `index` of the result replaces; at least one.
  private static func range(_ index: Int, of count: Int, in size: Int) -> Range<Int> {
    let first = index * size / count
    return first..<max(first + 1, (index + 1) * size / count)
  }
}

extension PhotoPixels {
  /// Returns the photo reduced to at most this size with the same aspect ratio; it is never enlarged.
  package func averaged(within width: Int, _ height: Int) -> PhotoPixels {
    let size = Self.size(of: (self.width, self.height), within: (width, height))
    guard size != (self.width, self.height) else { return self }
    return averaged(to: size.width, size.height)
  }

  /// Returns the photo scaled to exactly this size, ignoring its aspect ratio.
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

  /// Returns the largest size with the picture's aspect ratio that fits into `limit` and does not enlarge the picture.
  package static func size(of picture: (width: Int, height: Int), within limit: (width: Int, height: Int)) -> (
    width: Int, height: Int
  ) {
    let (width, height) = (max(picture.width, 1), max(picture.height, 1))
    let share = min(Double(limit.width) / Double(width), Double(limit.height) / Double(height), 1)
    return (
      min(max(Int((Double(width) * share).rounded()), 1), width),
      min(max(Int((Double(height) * share).rounded()), 1), height)
    )
  }
}
