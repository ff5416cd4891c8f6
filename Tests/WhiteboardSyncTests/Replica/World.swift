import BoardWorlds

/// The worlds of replicas are shared with the program that runs many of them.
typealias World = ReplicaWorld
