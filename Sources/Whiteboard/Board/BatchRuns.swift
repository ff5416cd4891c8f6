extension Array {
  /// Splits an array of writes into runs that each fit in one batch; `length` is an upper bound of the bytes in a
  /// write's value.
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
