"""The mutations: each is one bug, a replacement that fits exactly once, and the worlds that must detect it.

The first ten come from the design of the merge. `seeds` is about three times the number that was needed at first.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    caught_by: str
    seeds: int = 0


BOARD = "Sources/Whiteboard/"
SYNC = "Sources/WhiteboardSync/"

MUTATIONS = [
    Mutation(
        "no-tie-break", BOARD + "Replication/Cell.swift",
        "if dot != other.dot { return dot > other.dot }",
        "if dot != other.dot { return true }",
        "worlds", 100,
    ),
    Mutation(
        "gap-in-version-vector", BOARD + "Replication/BoardState.swift",
        "context.insert(sequences, of: batch.author)",
        "context.insert(1...sequences.upperBound, of: batch.author)",
        "worlds", 100,
    ),
    Mutation(
        "reused-incarnation", SYNC + "Authorship/Author.swift",
        "let bits = random()",
        "let bits = UInt64(records.count)",
        "replicas", 300,
    ),
    Mutation(
        "dropped-orphans", BOARD + "Replication/BoardState.swift",
        "      let id = ids[index]\n      let isWhole",
        "      let id = ids[index]\n      guard !orphans.contains(id) else { continue }\n      let isWhole",
        "worlds", 300,
    ),
    Mutation(
        "resurrection", BOARD + "Replication/BoardState.swift",
        "if known == nil, context.contains(id.dot) { return false }",
        "if known == nil, context.isEmpty { return false }",
        "worlds", 100,
    ),
    Mutation(
        "ignored-living-set", BOARD + "Replication/BoardState.swift",
        "difference.context.contains($0.dot) && !difference.living.contains($0.dot)",
        "difference.context.isEmpty && !difference.living.contains($0.dot)",
        "worlds", 300,
    ),
    Mutation(
        "no-cell-bump", BOARD + "Replication/HybridClock.swift",
        "base = max(base, floor.rawValue + 1)",
        "base = max(base, UInt64(floor.counter))",
        "worlds", 100,
    ),
    Mutation(
        "far-time-drives-the-gesture", BOARD + "Replication/HybridClock.swift",
        "for case let floor? in floors where floor.rawValue < limit {",
        "for case let floor? in floors {",
        "worlds", 100,
    ),
    Mutation(
        "clock-set-right-stays-ahead", BOARD + "Replication/HybridClock.swift",
        "if last > limit { last = 0 }",
        "if last > limit { last += 1 }",
        "worlds", 300,
    ),
    Mutation(
        "far-times-drive-each-other", BOARD + "Replication/HybridClock.swift",
        "guard high - low <= BoardLimits.drift << 16 else { break }",
        "guard high >= low else { break }",
        "worlds", 300,
    ),
    Mutation(
        "chat-order-by-clock", BOARD + "Board/Frontier.swift",
        "chatTime.flatMap { $0.canBeFollowed ? $0 : nil }",
        "chatTime.flatMap { $0.canBeFollowed ? nil : $0 }",
        "worlds", 100,
    ),
    Mutation(
        "partial-answer", BOARD + "Replication/BoardState.swift",
        "for entry in difference.entries {\n      guard objects.index(of: entry.object",
        "for entry in difference.entries.dropLast() {\n      guard objects.index(of: entry.object",
        "worlds", 100,
    ),
    Mutation(
        "purge-forgets-the-id", BOARD + "Replication/BoardState.swift",
        "purged.insert(operation.object.dot)",
        "if operation.object.dot.sequence == 0 { purged.insert(operation.object.dot) }",
        "worlds", 600,
    ),
    # There is no log to cover a gap from: what a floor would decide here is that nothing is lacking.
    Mutation(
        "floor-of-the-context", SYNC + "CatchUp/AnswerSender.swift",
        "request.context.isSuperset(of: board.state.context)",
        "board.state.context.incarnations.allSatisfy({ author in\n"
        "      board.state.context[author].ranges.last?.upperBound ?? 0\n"
        "        <= request.context[author].ranges.last?.upperBound ?? 0\n"
        "    })",
        "replicas", 1000,
    ),
    Mutation(
        "digest-ignores-a-cell", SYNC + "Digest/BoardDigest.swift",
        "for entry in record.entries where !entry.property.isSelection {",
        "for entry in record.entries where !entry.property.isSelection && entry.property != .color {",
        "worlds", 300,
    ),
    Mutation(
        "sums-ignore-a-property", SYNC + "Digest/BucketSums.swift",
        "for entry in record.entries where !entry.property.isSelection {",
        "for entry in record.entries where !entry.property.isSelection && entry.property != .zIndex {",
        "worlds", 300,
    ),
    Mutation(
        "sums-ignore-the-value", SYNC + "Digest/BucketSums.swift",
        "    hash.combine(cell.value)\n",
        "",
        "worlds", 100,
    ),
    Mutation(
        "no-value-tie-break", BOARD + "Replication/Cell.swift",
        "return other.value.precedes(value)",
        "return other.value == value",
        "worlds", 100,
    ),
    Mutation(
        "repair-does-not-compare", SYNC + "Replica/MessageHandler+Answers.swift",
        "withinShares(accepted, comparesAll: merging.comparesAll,",
        "comparesAll: merging.comparesAll && difference.entries.isEmpty,",
        "replicas", 300,
    ),
    Mutation(
        "record-signature-unchecked", SYNC + "Authorship/AuthorRecord.swift",
        "guard verifier.isValid(signature, of: Self.domain + signed, by: key) else {",
        "guard verifier.isKey(key), !signed.isEmpty else {",
        "replicas", 300,
    ),
    Mutation(
        "record-of-another-board", SYNC + "Authorship/AuthorRecord.swift",
        "guard self.board == board else { throw .wrongBoard }",
        "",
        "replicas", 300,
    ),
    Mutation(
        "head-signature-unchecked", SYNC + "Authorship/SignedHead.swift",
        "guard verifier.isValid(",
        "guard verifier.isKey(record.key) || verifier.isValid(",
        "replicas", 300,
    ),
    Mutation(
        "head-not-of-the-chain", SYNC + "Authorship/LinkChainVerifier.swift",
        "guard head.sequence == chain.sequence, head.hash == chain.hash else { throw .brokenChain }",
        "guard head.sequence >= chain.sequence else { throw .brokenChain }",
        "replicas", 300,
    ),
    Mutation(
        "gap-between-batches", SYNC + "Authorship/LinkChainVerifier.swift",
        "guard known == next else { throw .brokenChain }",
        "guard known.sequence <= next.sequence else { throw .brokenChain }",
        "replicas", 300,
    ),
    Mutation(
        "author-of-another-link", SYNC + "Replica/MessageHandler+Batches.swift",
        "guard record.member == member else { throw .forgedAuthor }",
        "",
        "replicas", 300,
    ),
    Mutation(
        "viewer-writes", SYNC + "Authorship/LinkChainVerifier.swift",
        "guard role.mayWrite else { throw .viewer }",
        "",
        "replicas", 300,
    ),
    Mutation(
        "answer-merged-unchecked", SYNC + "Replica/MessageHandler+Answers.swift",
        "try answer.verify(by: record, with: replica.verifier)",
        "_ = answer",
        "replicas", 300,
    ),
    Mutation(
        "undo-of-what-others-wrote", BOARD + "Undo/UndoPlan.swift",
        "guard standing == from.standing else {",
        "guard !(from.standing == .absent && to.standing == .absent) else {",
        "worlds", 100,
    ),
    Mutation(
        "ring-of-groups-not-cut", BOARD + "Replication/BoardState.swift",
        "return Array(path.dropFirst().prefix(cut))",
        "return Array(path.dropFirst().prefix(start + cells.count - cut))",
        "worlds", 1000,
    ),
    Mutation(
        "change-of-a-group-not-told", BOARD + "Replication/ChangeLog.swift",
        "guard !groups.isEmpty else { return result }",
        "guard !groups.isEmpty, !result.isEmpty else { return result }",
        "replicas", 1000,
    ),
    Mutation(
        "latest-setting-loses", BOARD + "Board/SettingsIndex.swift",
        "cells[$0].legal.last?.cell",
        "cells[$0].legal.elements.first?.cell",
        "worlds", 1000,
    ),
    Mutation(
        "revoked-cells-of-answers-count", BOARD + "Replication/BoardState.swift",
        "    let difference = counted(of: difference)\n",
        "",
        "RolesTests",
    ),
    Mutation(
        "newcomers-hear-of-no-revocation", SYNC + "Replica/Replica.swift",
        "    permissions.sendRevocations(to: member, now)\n",
        "",
        "owned", 300,
    ),
    Mutation(
        "revocations-are-not-passed-on", SYNC + "Permissions/Permissions.swift",
        "actions.queue(.revocation(revocation.bytes), to: peers.members.filter { $0 != member })",
        "if member == nil { actions.queue(.revocation(revocation.bytes), to: peers.members) }",
        "owned", 300,
    ),
    Mutation(
        "claims-of-the-revoked-stay", SYNC + "CatchUp/AnswerSender.swift",
        "      !containsRevokedChanges(request.context)\n",
        "      true\n",
        "RolesTests",
    ),
    Mutation(
        "viewers-keep-what-they-alone-have", SYNC + "Restore/RestoredBoard.swift",
        "replacing = role.mayWrite ? 0 : buckets",
        "replacing = 0",
        "owned", 600,
    ),
    Mutation(
        "void-revocations-count", SYNC + "Permissions/Revocations.swift",
        "      if !isVoid {",
        "      if isVoid || !isVoid {",
        "OwnedBoardTests",
    ),
    Mutation(
        "wordle-yellow-without-counts", BOARD + "Games/Wordle.swift",
        "left[letter] = count - 1",
        "left[letter] = count",
        "worlds", 300,
    ),
]
