/// The fuzzers of code without dependencies.
let pureFuzzers: [String: Fuzzer] = [
  "base32": fuzzBase32,
  "datagrams": fuzzDatagrams,
  "discovery": fuzzDiscovery,
  "frames": fuzzFrames,
  "imports": fuzzImports,
  "json": fuzzJSON,
  "keys": fuzzKeys,
  "messages": fuzzMessages,
  "packets": fuzzPackets,
]
