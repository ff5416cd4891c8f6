/// Checks that the code runs on an actor.
///
/// The check also keeps the function on the actor until it returns.
///
/// With optimization, Swift 6.3 omits the switch back to the caller's actor after the last `await`
/// of a `nonisolated(nonsending)` function, so that the caller would continue on another thread.
/// Call this function in a `defer` of a function that can return right after such an `await`:
/// `defer { checkIsolation(#isolation) }`.
///
/// - Parameter actor: The actor; nil for none.
func checkIsolation(_ actor: (any Actor)?) { actor?.preconditionIsolated() }
