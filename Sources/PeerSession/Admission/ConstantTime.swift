/// Returns whether two secrets are equal, in a time that does not depend on where they differ.
func isEqualInConstantTime(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (one, other) in zip(left, right) { difference |= one ^ other }
  return difference == 0
}
