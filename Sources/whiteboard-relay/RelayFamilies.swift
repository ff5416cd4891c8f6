import WhiteboardRelay

extension MetricFamily {
  static let ofRelay: [MetricFamily] = [
    .gauge("whiteboard_boards", help: "Boards of this relay, by state.", labels: ["state"]),
    .gauge("whiteboard_boards_unsaved", help: "Boards with changes that are not saved."),
    .gauge("whiteboard_people", help: "Peers on the boards, each counted once per board."),
    .counter("whiteboard_relayed_copies_total", help: "Relayed copies of messages, one for each receiving member."),
    .counter("whiteboard_relayed_bytes_total", help: "Bytes of the relayed copies."),
    .counter("whiteboard_overruns_total", help: "Number of times that too much data waited for a member."),
    .counter("whiteboard_joins_total", help: "Number of times that a peer joined a board."),
    .counter(
      "whiteboard_departures_total",
      help: "Number of times that a peer left a board, by the reason in the session protocol.",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_refused_total",
      help: "Refused batches and answers, from viewers (viewer) or after the right to edit was revoked (revoked).",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_boards_refused_total",
      help: "Boards of other hosts that the relay refused, by reason.",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_log_lines_dropped_total",
      help: "Log lines that were dropped because the reader was too slow."
    ),
  ]
}
