/// The scheduled events, ordered by time and then by the order in which they were scheduled.
struct ScheduledEvents<Event> {
  private var heap: [(at: UInt64, number: Int, event: Event)] = []
  private var count = 0

  var isEmpty: Bool { heap.isEmpty }

  mutating func push(_ event: Event, at: UInt64) {
    count += 1
    heap.append((at, count, event))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> (event: Event, at: UInt64)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && isBefore(child, least) {
          least = child
        }
        guard least != parent else { break }
        heap.swapAt(parent, least)
        parent = least
      }
    }
    return (first.event, first.at)
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].at, heap[one].number) < (heap[other].at, heap[other].number)
  }
}
