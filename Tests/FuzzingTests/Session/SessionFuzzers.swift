/// The fuzzers of code that needs swift-nio.
let sessionFuzzers: [String: Fuzzer] = [
  "admission": fuzzAdmission,
  "broadcast": fuzzBroadcast,
  "control": fuzzControl,
  "link": fuzzLink,
  "sealed": fuzzSealed,
  "web": fuzzWeb,
]
