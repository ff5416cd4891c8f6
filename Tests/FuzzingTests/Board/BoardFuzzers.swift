/// The fuzzers of the board and its document.
let boardFuzzers: [String: Fuzzer] = [
  "answer": fuzzAnswer,
  "batch": fuzzBatch,
  "document": fuzzDocument,
  "games": fuzzGames,
  "photo": fuzzPhoto,
  "pictures": fuzzPictures,
  "resource-name": fuzzResourceName,
  "sync": fuzzSync,
]
