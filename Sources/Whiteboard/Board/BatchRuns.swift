extension Array {
  /// Splits an array of writes into runs that each fit in one batch.
  ///
  /// - Parameter length: Returns the maximum number of bytes in the value of a write.
  /// - Returns: The runs, in order.
  /// - Complexity: O(*n*).
  func batches(length: (Element) -> Int) -> [ArraySlice<Element>] {
    var runs: [ArraySlice<Element>] = []
    var first = startIndex
    var bytes = 0
    for index in indices {
      bytes += length(self[index])
      guard index > first, index - first == BoardLimits.operationsPerBatch || bytes > BoardLimits.batchBytes / 2 else {
        continue
      }
      runs.append(self[first..<index])
      first = index
      bytes = length(self[index])
    }
    if first < endIndex { runs.append(self[first...]) }
    return runs
  }
}
