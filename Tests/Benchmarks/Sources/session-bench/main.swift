// One end of a benchmark; `run` starts two of these and reads what they print.
//
//   session-bench server ADDRESS:PORT INBOX [executor]
//   session-bench client ADDRESS:PORT INBOX SERVER-PORT SESSION PEER MEASUREMENT ARGUMENT...
//
// The server prints its port, session and peer id on one line and serves until it is killed. A client
// takes one measurement, prints its numbers as one line of JSON, and ends. With `executor` an end's
// application runs on the session's own thread.

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "server" where arguments.count == 3 || arguments.dropFirst(3) == ["executor"]:
  try await serve(
    listen: arguments[1],
    inbox: arguments[2],
    onExecutor: arguments.count == 4
  )
case "client" where arguments.count >= 7:
  let client = try Client(
    listen: arguments[1],
    inbox: arguments[2],
    server: arguments[3],
    session: arguments[4],
    peer: arguments[5]
  )
  let figures = try await client.measure(arguments[6], Array(arguments.dropFirst(7)))
  write(line: figures.json)
default:
  throw Misuse("session-bench server|client …: see the top of main.swift.")
}
