/// Returns the result of `body`, or nil after a timeout.
///
/// After a timeout, `body` is canceled and awaited.
package func firstOf<Success: Sendable>(within limit: Duration, _ body: @escaping @Sendable () async -> Success?) async
  -> Success?
{
  await withTaskGroup(of: Success?.self) { group in
    group.addTask(operation: body)
    group.addTask {
      try? await ContinuousClock().sleep(for: limit)
      return nil
    }
    let first = await group.next() ?? nil
    group.cancelAll()
    return first
  }
}
