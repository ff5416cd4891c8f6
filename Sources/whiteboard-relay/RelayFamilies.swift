import RelayOperations

extension MetricFamily {
  /// The metrics of a relay, in addition to those of every process.
  static let ofRelay: [MetricFamily] = [
    .gauge("whiteboard_boards", help: "Boards of this relay, by state.", labels: ["state"]),
    .gauge("whiteboard_boards_unsaved", help: "Boards that are not all on the disk."),
    .gauge("whiteboard_people", help: "People on the boards, each counted once a board."),
    .counter(
      "whiteboard_relayed_copies_total",
      help: "Copies of messages passed on, one for each member that one went to."
    ),
    .counter("whiteboard_relayed_bytes_total", help: "Bytes of those copies."),
    .counter("whiteboard_overruns_total", help: "How often too much waited for a member."),
    .counter("whiteboard_joins_total", help: "How often somebody came onto a board."),
    .counter(
      "whiteboard_departures_total",
      help: "How often somebody left a board, by the reason of the session protocol.",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_refused_total",
      help:
        "Batches and answers refused: of who looks on (viewer), and of whose rights were taken back.",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_boards_refused_total",
      help: "Boards of other hosts that were not taken, by the limit that refused them.",
      labels: ["reason"]
    ),
    .counter(
      "whiteboard_log_lines_dropped_total",
      help: "Log lines that were dropped because their reader was too slow."
    ),
  ]
}
