/// Checks a decoder with one input, and traps if a property does not hold.
typealias Fuzzer = @Sendable (inout Input) -> Void

// All fuzzers by name. The packages of Tests/Fuzzing compile one group each.
#if PURE
let fuzzers = pureFuzzers
#elseif BOARD
let fuzzers = boardFuzzers
#elseif SESSION
let fuzzers = sessionFuzzers
#else
let fuzzers = [pureFuzzers, boardFuzzers, sessionFuzzers].reduce(into: [:]) { $0.merge($1) { first, _ in first } }
#endif
