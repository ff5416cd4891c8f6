"""A TCP forwarder that cuts connections after a number of bytes of its choice."""

import socket
import threading


class CuttingForwarder:
    """Forwards to `target`; while `cuts` lasts, each connection ends after some bytes."""

    def __init__(self, target, generator, cuts):
        self.target, self.generator, self.cuts = target, generator, cuts
        self.made = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(self.target)
            except OSError:
                return
            with self._lock:
                # A third of the cuts fall into the handshake or shortly after it.
                limit = self.generator.choice([4_000, 20_000, 40_000])
                left = self.generator.randrange(1, limit) if self.cuts > 0 else None
            budget = {near: None, far: None}
            budget[self.generator.choice([near, far])] = left
            for source, sink in ((near, far), (far, near)):
                threading.Thread(
                    target=self._forward, args=(source, sink, budget[source]), daemon=True
                ).start()

    def _forward(self, source, sink, left):
        try:
            while data := source.recv(4_096):
                if left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    with self._lock:
                        self.made += 1
                        self.cuts -= 1
                    break
                sink.sendall(data)
                left = None if left is None else left - len(data)
        except OSError:
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
