"""Links: mutual TLS 1.3 with self-signed P-256 certificates over blocking sockets (LNK-1 to LNK-4)."""

import datetime
import hashlib
import socket
import threading
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from OpenSSL import SSL, crypto

from .link_base import FramedLink, LinkBroken, prepare, receive
from .wire import CLOSE, Violation, base32

ALPN = b"whiteboard-p2p"
BINDING = b"EXPORTER-whiteboard-p2p binding"
ATTACH_LABEL = b"EXPORTER-whiteboard-p2p attach"
DATAGRAM_LABEL = b"EXPORTER-whiteboard-p2p datagram"


def public_key_info(key):
    return key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


class Identity:
    """A P-256 key and a certificate over it; `peer_id` is 32 bytes (LNK-2)."""

    def __init__(self, curve=None, extra_certificates=()):
        self.key = ec.generate_private_key(curve or ec.SECP256R1())
        self.public_key_info = public_key_info(self.key.public_key())
        self.peer_id = hashlib.sha256(self.public_key_info).digest()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "whiteboard")])
        start = datetime.datetime(2020, 1, 1)
        self.certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + datetime.timedelta(days=20_000))
            .sign(self.key, hashes.SHA256())
        )
        self.extra_certificates = list(extra_certificates)

    @property
    def text(self):
        return base32(self.peer_id)

    def context(self, alpn=(ALPN,), version=SSL.TLS1_3_VERSION, present=True):
        context = SSL.Context(SSL.TLS_METHOD)
        context.set_min_proto_version(version)
        context.set_max_proto_version(version)
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        context.set_options(SSL.OP_NO_TICKET)
        if present:
            context.use_certificate(crypto.X509.from_cryptography(self.certificate))
            context.use_privatekey(crypto.PKey.from_cryptography_key(self.key))
            for extra in self.extra_certificates:
                context.add_extra_chain_cert(crypto.X509.from_cryptography(extra))
        # A certificate is required, but only its key identifies the peer.
        context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
        if alpn:
            context.set_alpn_protos(list(alpn))
        context.set_alpn_select_callback(
            lambda _, offered: ALPN if ALPN in offered else SSL.NO_OVERLAPPING_PROTOCOLS
        )
        return context


class Link(FramedLink):
    """One TLS connection with frames. One thread may read while others write."""

    def __init__(self, sock, identity, server, timeout=10, **context_options):
        prepare(sock)
        super().__init__(identity, server, sock.getpeername())
        self.sock = sock
        self._tls = SSL.Connection(identity.context(**context_options), None)
        self._tls_lock = threading.Lock()
        self._send_lock = threading.Lock()
        if server:
            self._tls.set_accept_state()
        else:
            self._tls.set_connect_state()
        try:
            self._handshake(time.monotonic() + timeout)
            self._check_peer()
        except BaseException:
            self.abort()
            raise

    @classmethod
    def connect(cls, address, identity, timeout=10, source=None, **options):
        """Dials a listener; `source` is the local IP address to dial from."""
        sock = socket.create_connection(
            address, timeout=timeout, source_address=(source, 0) if source else None
        )
        return cls(sock, identity, False, timeout, **options)

    def _handshake(self, deadline):
        while True:
            try:
                self._tls.do_handshake()
                self._flush()
                return
            except SSL.WantReadError:
                self._flush()
            except SSL.Error as error:
                self._flush()
                raise LinkBroken(f"TLS handshake: {error}") from error
            self._tls.bio_write(self._receive(deadline))

    def _check_peer(self):
        certificate = self._tls.get_peer_certificate()
        if certificate is None:
            raise Violation("protocol-error", "no certificate")
        chain = self._tls.get_peer_cert_chain() or []
        if len(chain) > (0 if self.server else 1):
            raise Violation("protocol-error", "more than one certificate")
        key = certificate.to_cryptography().public_key()
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            raise Violation("protocol-error", "not a P-256 key")
        if self._tls.get_protocol_version() != SSL.TLS1_3_VERSION:
            raise Violation("protocol-error", "not TLS 1.3")
        if self._tls.get_alpn_proto_negotiated() != ALPN:
            raise Violation("protocol-error", "another ALPN")
        self.peer_key_info = public_key_info(key)
        self.peer_id = hashlib.sha256(self.peer_key_info).digest()

    def exporter(self, label):
        with self._tls_lock:
            return self._tls.export_keying_material(label, 32, b"")

    # Bytes

    def _receive(self, deadline):
        data = receive(self.sock, deadline)
        if not data:
            raise LinkBroken("TCP ended")
        self.last_read = time.monotonic()
        return data

    def _take_output(self):
        parts = []
        while True:
            try:
                parts.append(self._tls.bio_read(1 << 20))
            except SSL.WantReadError:
                return b"".join(parts)

    def _flush(self):
        with self._tls_lock:
            data = self._take_output()
        if data:
            try:
                self.sock.sendall(data)
            except OSError as error:
                raise LinkBroken(str(error)) from error

    def send(self, data):
        """Writes raw bytes; blocks while TCP does."""
        self.send_records([data])

    def send_records(self, pieces):
        """Writes each piece as its own TLS record, all in one write."""
        with self._send_lock:
            try:
                with self._tls_lock:
                    for piece in pieces:
                        self._tls.sendall(piece)
                    out = self._take_output()
                self.sock.sendall(out)
            except (OSError, SSL.Error) as error:
                raise LinkBroken(str(error)) from error

    def read_some(self, deadline=None):
        """Returns decrypted bytes, at least one."""
        while True:
            plain, end = [], None
            with self._tls_lock:
                while True:
                    try:
                        plain.append(self._tls.recv(65_536))
                    except SSL.WantReadError:
                        break
                    except SSL.Error as error:
                        end = LinkBroken(f"TLS ended: {error}")
                        break
            if plain:
                return b"".join(plain)
            if end:
                raise end
            data = self._receive(deadline)
            with self._tls_lock:
                self._tls.bio_write(data)

    # Closing

    def close(self, code, message=""):
        """Sends CLOSE, then shuts down the sending side, and discards incoming data briefly."""
        if self._closed:
            return
        try:
            self.send_frame(CLOSE, {"code": code, "message": message})
            with self._send_lock:
                with self._tls_lock:
                    self._tls.shutdown()
                    out = self._take_output()
                self.sock.sendall(out)
                self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(0.5)
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline and self.sock.recv(65_536):
                pass
        except (OSError, SSL.Error, LinkBroken):
            pass
        self.abort()

    def abort(self):
        """Cuts the connection without a CLOSE; wakes its reader."""
        self._closed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()
