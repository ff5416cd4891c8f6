/// The name and the icon under which a user appears to others.
///
/// They are not verified.
///
/// Two profiles are equal if both parts are equal.
public struct Profile: Hashable, Sendable {
  /// The display name.
  ///
  /// From a peer, it can be any text.
  public var name: String
  /// The icon that is shown with the name.
  public var icon: ProfileIcon

  /// Creates a profile.
  public init(name: String, icon: ProfileIcon) {
    self.name = name
    self.icon = icon
  }
}

/// The icons from which a user can choose.
///
/// Each is one emoji.
public enum ProfileIcon: String, CaseIterable, Hashable, Sendable {
  /// A smiling face with a halo.
  case angel = "😇"
  /// A face with heart-shaped eyes.
  case heart = "😍"
  /// A hot, sweating face.
  case hot = "🥵"
  /// A face with a thermometer.
  case sick = "🤒"
  /// A face with horns.
  case devil = "😈"
  /// A ghost.
  case ghost = "👻"
  /// A freezing face.
  case cold = "🥶"
  /// A face in clouds.
  case foggy = "😶‍🌫️"
  /// A pile of poop.
  case poop = "💩"

  /// The emoji of the icon.
  public var emoji: String { rawValue }
}
