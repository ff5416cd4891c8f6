/// The fuzzers of code that needs swift-nio.
let sessionFuzzers: [String: Fuzzer] = [
  "admission": fuzzAdmission,
  "control": fuzzControl,
  "link": fuzzLink,
  "sealed": fuzzSealed,
  "web": fuzzWeb,
]
