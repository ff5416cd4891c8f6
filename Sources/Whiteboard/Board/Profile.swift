/// How a person shows to others: a name and an icon, which prove nothing.
///
/// Equal where both are, and then of equal hash.
public struct Profile: Hashable, Sendable {
  /// The name; from a peer, any text.
  public var name: String
  /// The icon.
  public var icon: ProfileIcon

  /// A profile of its parts.
  public init(name: String, icon: ProfileIcon) {
    self.name = name
    self.icon = icon
  }
}

/// The icons that a person can choose from; each is one emoji.
public enum ProfileIcon: String, CaseIterable, Hashable, Sendable {
  /// A halo.
  case angel = "😇"
  /// Eyes like hearts.
  case heart = "😍"
  /// Sweating.
  case hot = "🥵"
  /// With a thermometer.
  case sick = "🤒"
  /// Horns.
  case devil = "😈"
  /// A ghost.
  case ghost = "👻"
  /// Freezing.
  case cold = "🥶"
  /// A face in clouds.
  case foggy = "😶‍🌫️"
  /// A pile.
  case poop = "💩"

  /// The emoji.
  public var emoji: String { rawValue }
}
