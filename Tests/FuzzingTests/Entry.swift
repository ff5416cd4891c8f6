import Glibc

// The fuzzer that the environment names. (libFuzzer takes all arguments of the program for itself.)
private let fuzzer: Fuzzer = {
  guard let name = getenv("FUZZER"), let fuzzer = fuzzers[String(cString: name)] else {
    fatalError("FUZZER must be one of \(fuzzers.keys.sorted())")
  }
  return fuzzer
}()

/// Runs the fuzzer on one input of libFuzzer.
@c(LLVMFuzzerTestOneInput) public func runFuzzer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = Input(Array(UnsafeBufferPointer(start: start, count: count)))
  fuzzer(&input)
  return 0
}
