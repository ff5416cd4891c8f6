// One end of a benchmark. `run` starts two of them and reads their output.
//
//     session-bench server ADDRESS:PORT INBOX [executor]
//     session-bench client ADDRESS:PORT INBOX SERVER-PORT SESSION PEER MEASUREMENT ARGUMENT... [executor]
//
// The server prints its port, session and peer id on one line and serves until it is killed. A client takes one
// measurement, prints its numbers as one line of JSON, and ends. With `executor`, the application of an end runs on the
// session's own thread.

let arguments = Array(CommandLine.arguments.dropFirst())
let words = arguments.filter { $0 != "executor" }
let isOnExecutor = words.count < arguments.count
switch words.first {
case "server" where words.count == 3: try await serve(listen: words[1], inbox: words[2], isOnExecutor: isOnExecutor)
case "client" where words.count >= 7:
  let client = try Client(
    listen: words[1],
    inbox: words[2],
    server: words[3],
    session: words[4],
    peer: words[5],
    isOnExecutor: isOnExecutor
  )
  let figures = try await client.measure(words[6], Array(words.dropFirst(7)))
  write(line: figures.json)
default: throw Misuse("session-bench server|client …: see the top of main.swift.")
}
