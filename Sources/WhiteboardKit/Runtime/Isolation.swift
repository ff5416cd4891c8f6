/// Checks that the code runs on an actor.
///
/// The check also keeps the function on the actor until it returns.
///
/// With optimization, Swift 6.3 omits the switch back to the caller's actor after the last `await` of a
/// `nonisolated(nonsending)` function, so that the caller would continue on another thread. Call this function in a
/// `defer` of a function that can return or throw right after such an `await`: `defer { checkIsolation(#isolation) }`.
/// `Tests/check-isolation` finds the functions that lack it.
///
/// - Parameter actor: The actor; nil for none.
func checkIsolation(_ actor: (any Actor)?) { actor?.preconditionIsolated() }

/// Calls an operation on the caller's actor, with a handler for the cancellation of the task.
///
/// Use this function instead of `withTaskCancellationHandler`. In a `nonisolated(nonsending)` function, the operation
/// of the latter runs on no actor, and the compiler of Swift 6.3 does not report that it uses state of the caller's
/// actor.
///
/// - Parameters:
///   - isolation: The caller's actor; nil for none.
///   - operation: The operation.
///   - cancel: The handler. If the task is canceled, the handler is called immediately, on any thread.
/// - Returns: The result of the operation.
func withCancellation<Result>(
  isolation: isolated (any Actor)? = #isolation,
  _ operation: nonisolated(nonsending) () async -> Result,
  onCancel cancel: @Sendable () -> Void
) async -> Result {
  defer { checkIsolation(isolation) }
  return await withTaskCancellationHandler {
    // A closure is isolated only to an actor that it captures.
    defer { checkIsolation(isolation) }
    return await operation()
  } onCancel: {
    cancel()
  }
}
