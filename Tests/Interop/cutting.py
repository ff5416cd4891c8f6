"""TCP forwarders: a forwarder whose target can change, and a forwarder that cuts connections after a chosen number of
bytes."""

import contextlib
import socket
import threading


class Forwarder:
    """Forwards each connection to `target`."""

    def __init__(self, target):
        self.target = target
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def lead_to(self, target):
        """Ends all connections; later connections go to `target`, as if another host had taken over the address."""
        self.target = target
        self._end(*self._sockets)

    def stop(self):
        self._end(self._listener)
        self._listener.close()

    def budgets(self):
        """Returns the number of bytes that the dialler and the target may send before the cut; None for no limit."""
        return None, None

    def was_cut(self):
        """Called after a connection was cut."""

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self.target)
            except OSError:
                return
            self._sockets += [near, far]
            from_near, from_far = self.budgets()
            for source, sink, left in ((near, far, from_near), (far, near, from_far)):
                threading.Thread(target=self._forward, args=(source, sink, left), daemon=True).start()

    def _forward(self, source, sink, left):
        with contextlib.suppress(OSError):
            while data := source.recv(4_096):
                if left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    self.was_cut()
                    break
                sink.sendall(data)
                left = None if left is None else left - len(data)
        self._end(source, sink)

    def _end(self, *sockets):
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


class CuttingForwarder(Forwarder):
    """Cuts each connection after some bytes, as long as `cuts` is not used up."""

    def __init__(self, target, generator, cuts):
        self.generator, self.cuts = generator, cuts
        self.made = 0
        self._lock = threading.Lock()
        super().__init__(target)

    def budgets(self):
        with self._lock:
            # A third of the cuts are during the handshake or shortly after it.
            limit = self.generator.choice([4_000, 20_000, 40_000])
            left = self.generator.randrange(1, limit) if self.cuts > 0 else None
        return self.generator.choice([(left, None), (None, left)])

    def was_cut(self):
        with self._lock:
            self.made += 1
            self.cuts -= 1
