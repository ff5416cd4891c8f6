import Testing

@testable import WhiteboardRendering

@Suite("Colors of a terminal") struct ColorDepthTests {
  /// Values from another implementation of Oklab, with the power and root functions of a math library.
  private static let nearest: [(UInt32, UInt8, UInt8)] = [
    (0xE69F00, 178, 3), (0x56B4E9, 74, 6), (0x1FAE84, 36, 6), (0xF0E442, 220, 11), (0x3B8FD9, 32, 12),
    (0xE8601C, 166, 9), (0xCC79A7, 175, 8), (0x999999, 247, 8), (0x9A7BE0, 104, 12), (0x123456, 236, 4),
    (0x0000FF, 21, 4), (0xFF0000, 196, 9), (0x202020, 234, 0), (0x808080, 244, 8), (0xFAFAFA, 231, 15),
    (0x102000, 234, 0), (0x44CB63, 41, 2), (0x204F89, 24, 4), (0x829868, 101, 8), (0x3C5FD7, 26, 12),
    (0xFDA9AA, 217, 7), (0xE623B1, 163, 5), (0xF1CA20, 220, 3), (0xC25CED, 135, 5), (0x6B7F32, 64, 8),
    (0x300E5D, 17, 4), (0xF9C859, 221, 3), (0x0E838F, 30, 8), (0xC79505, 172, 3), (0xDD93A5, 175, 8),
    (0x01140B, 233, 0), (0xE409CA, 164, 5), (0x885C7A, 96, 8), (0x752052, 89, 1), (0x34571E, 22, 8), (0xA28623, 136, 8),
  ]

  @Test("a color is shown by the most similar color of the palette", arguments: nearest) func palette(
    rgb: UInt32,
    of256: UInt8,
    of16: UInt8
  ) {
    #expect(PaletteColor.index256(rgb) == of256)
    #expect(PaletteColor.index16(rgb) == of16)
  }

  @Test("a color of the palette is shown by itself") func itself() {
    for (index, rgb) in PaletteColor.fixedColors.enumerated() {
      let found = Int(PaletteColor.index256(rgb)) - 16
      #expect(PaletteColor.fixedColors[found] == rgb, "\(index)")
    }
    for (index, rgb) in PaletteColor.sixteenColors.enumerated() { #expect(PaletteColor.index16(rgb) == UInt8(index)) }
  }

  @Test(
    "colors are converted to the perceived color space",
    arguments: [
      (0x000000, 0.000000, 0.000000, 0.000000), (0xFFFFFF, 1.000000, 0.000000, 0.000000),
      (0xFF0000, 0.627955, 0.224863, 0.125846), (0x00FF00, 0.866440, -0.233888, 0.179498),
      (0x0000FF, 0.452014, -0.032457, -0.311528), (0x123456, 0.319168, -0.023387, -0.068576),
    ] as [(UInt32, Double, Double, Double)]
  ) func perceived(rgb: UInt32, lightness: Double, a: Double, b: Double) {
    let color = PerceivedColor(rgb)
    #expect(abs(color.lightness - lightness) < 1e-5)
    #expect(abs(color.a - a) < 1e-5 && abs(color.b - b) < 1e-5)
  }

  @Test("every ink is visible on its paper", arguments: Paper.allCases) func inks(paper: Paper) {
    for value in stride(from: UInt32(0), through: 0xFF_FFFF, by: 0x01_2345) {
      guard let rgb = InkColor.shown(value << 8 | 0xFF, on: paper).rgb else { continue }
      let lightness = PerceivedColor(rgb).lightness
      #expect(paper == .light || lightness >= 0.44, "\(value)")
      #expect(paper == .dark || lightness <= (paper == .light ? 0.79 : 0.94), "\(value)")
    }
    // Black and white become the terminal's own text color.
    for value: UInt32 in [0x0000_00FF, 0xFFFF_FFFF, 0x0A0A_0AFF] {
      #expect(InkColor.shown(value, on: paper) == .terminal)
    }
    #expect(InkColor.shown(nil, on: paper) == .terminal)
  }

  @Test("pen colors do not change on an unknown or a dark background") func pens() {
    for rgb: UInt32 in [0xE69F00, 0x56B4E9, 0x1FAE84, 0xF0E442, 0x3B8FD9, 0xE8601C, 0xCC79A7, 0x999999, 0x9A7BE0] {
      for paper in [Paper.unknown, .dark] { #expect(InkColor.shown(rgb << 8 | 0xFF, on: paper).rgb == rgb) }
    }
  }
}
