"""An owned board: the members who may write, and operations that no longer count."""

import signing
from whiteboard_peer import authors, owned

from .forms import BOARD, invalid, nonce, text_of

SALT = bytes(range(1, 9))
OLD, NEW = 1_700_000_000_000, 1_700_000_001_000


def point(name):
    return authors.point_of(signing.key_named(name).public_key())


OWNER = point("anna")
PLACE = owned.board_of(SALT, OWNER)


def certificate(name, rights, by="anna", serial=OLD, board=PLACE):
    text = owned.certificate_text(board, point(name), rights, serial)
    return owned.Certificate(point(name), rights, serial, signing.sign(signing.key_named(by), text))


def grant(*certificates, salt=SALT, owner=OWNER):
    return owned.Grant(salt, owner, certificates)


def record(name, role, given=None, board=PLACE):
    return authors.make_record(
        signing.key_named(name), board, nonce(name), role, sign=signing.sign, grant=given
    )


RELAY = certificate("ben", 19)
BY_OWNER = grant(certificate("vera", 1))
BY_RELAY = grant(RELAY, certificate("vera", 1, by="ben"))


def records():
    valid = [
        ("the owner, an editor", record("anna", 1, grant())),
        ("the owner as a relay", record("anna", 3, grant())),
        ("a viewer", record("vera", 2)),
        ("an editor by the owner", record("vera", 1, BY_OWNER)),
        ("an editor who may grant", record("vera", 1, grant(certificate("vera", 17)))),
        ("a relay that may grant", record("ben", 3, grant(RELAY))),
        ("a relay's owner as an editor", record("ben", 1, grant(RELAY))),
        ("an editor by the relay", record("vera", 1, BY_RELAY)),
    ]
    whole = valid[-1][1]
    open_form = b"\1" + PLACE + nonce("anna") + OWNER + b"\1\0"
    bad = [
        ("cut in a certificate", whole[:300], "truncated"),
        ("a byte too many", whole + b"\0", "trailing"),
        (
            "version 1",
            open_form + signing.sign(signing.key_named("anna"), b"whiteboard-record-1\n" + open_form),
            "reserved",
        ),
        ("three certificates", whole[:172] + b"\3" + whole[173:], "reserved"),
        ("rights of a viewer", record("vera", 1, grant(certificate("vera", 2))), "reserved"),
        ("rights of later versions", record("vera", 1, grant(certificate("vera", 33))), "reserved"),
        ("a serial too great", record("vera", 1, grant(certificate("vera", 1, serial=2**63))), "limit"),
        ("no certificate", record("vera", 1, grant()), "role"),
        ("an editor's as a relay", record("vera", 3, BY_OWNER), "role"),
        ("another's certificate", record("ben", 1, BY_OWNER), "signature"),
        ("signed by itself", record("vera", 1, grant(certificate("vera", 1, by="vera"))), "signature"),
        ("by who may not grant", record("vera", 1, grant(certificate("ben", 3), certificate("vera", 1, by="ben"))), "role"),
        ("a second that may grant", record("vera", 1, grant(RELAY, certificate("vera", 17, by="ben"))), "role"),
        ("a second of a relay", record("vera", 1, grant(RELAY, certificate("vera", 3, by="ben"))), "role"),
        ("a certificate of another board", record("vera", 1, grant(certificate("vera", 1, board=BOARD))), "signature"),
        ("another salt", record("vera", 1, grant(certificate("vera", 1), salt=bytes(8))), "owner"),
        ("another owner", record("vera", 1, grant(certificate("vera", 1, by="ben"), owner=point("ben"))), "owner"),
        ("a changed serial", whole[:-65] + bytes([whole[-65] ^ 1]) + whole[-64:], "signature"),
    ]
    return {
        "valid": [
            {
                "name": name,
                "hex": data.hex(),
                "incarnation": text_of(authors.decode_record(data, PLACE).incarnation),
                "member": authors.decode_record(data, PLACE).member.hex(),
                "role": authors.decode_record(data, PLACE).role,
            }
            for name, data in valid
        ],
        "invalid": [invalid(*entry) for entry in bad],
    }


def grants():
    """The grants for Vera."""
    valid = [
        ("you look on", grant(), 0),
        ("an editor by the owner", BY_OWNER, 1),
        ("an editor by the relay", BY_RELAY, 1),
        ("a relay that may grant", grant(certificate("vera", 19)), 19),
    ]
    bad = [
        ("nothing", b"", "truncated"),
        ("a byte too many", BY_OWNER.data + b"\0", "trailing"),
        ("another's", grant(RELAY).data, "signature"),
        ("three certificates", grant().data[:-1] + b"\3", "reserved"),
        ("of another board", grant(salt=bytes(8)).data, "owner"),
    ]
    return {
        "holder": authors.member_of(point("vera")).hex(),
        "valid": [
            {"name": name, "hex": one.data.hex(), "rights": rights} for name, one, rights in valid
        ],
        "invalid": [invalid(*entry) for entry in bad],
    }


def revocation(member, serial, counted, by="anna", given=None, board=PLACE):
    body = owned.revocation_body(
        board, authors.member_of(point(member)), serial, counted, point(by), given or grant()
    )
    return body + signing.sign(signing.key_named(by), b"whiteboard-revocation-1\n" + body)


def revocations():
    whom = authors.decode_record(record("vera", 1, BY_RELAY), PLACE)
    inc = whom.incarnation
    by_relay = {"by": "ben", "given": grant(RELAY)}
    valid = {
        "nothing counts": revocation("vera", NEW, {}),
        "up to 9": revocation("vera", NEW, {inc: 9}),
        "up to 5, by the relay": revocation("vera", NEW, {inc: 5, 7: 1}, **by_relay),
        "too early": revocation("vera", OLD - 1, {}),
        "the relay, and 20 of Vera's": revocation("ben", NEW, {inc: 20}),
        "the relay, by itself": revocation("ben", NEW, {}, **by_relay),
        "somebody else": revocation("nobody", NEW, {}),
    }
    whole = valid["up to 9"]
    bad = [
        ("nothing", b"", "truncated"),
        ("a byte too many", whole + b"\0", "trailing"),
        ("version 2", b"\2" + whole[1:], "reserved"),
        ("another board", revocation("vera", NEW, {}, board=BOARD), "wrong-board"),
        ("a serial too great", revocation("vera", 2**63, {}), "limit"),
        ("sequence 0", revocation("vera", NEW, {inc: 0}), "limit"),
        ("a sequence too great", revocation("vera", NEW, {inc: 2**48}), "limit"),
        ("incarnation 0", revocation("vera", NEW, {0: 1}), "reserved"),
        ("4097 incarnations", whole[:57] + b"\x81\x20" + whole[58:], "limit"),
        ("two certificates", revocation("anna", NEW, {}, by="vera", given=BY_RELAY), "reserved"),
        ("the owner's", revocation("anna", NEW, {}), "role"),
        ("by an editor", revocation("ben", NEW, {}, by="vera", given=BY_OWNER), "role"),
        ("by nobody", revocation("ben", NEW, {}, by="vera"), "role"),
        ("a changed member", whole[:20] + bytes([whole[20] ^ 1]) + whole[21:], "signature"),
        ("of another board's owner", revocation("vera", NEW, {}, given=grant(salt=bytes(8))), "owner"),
    ]
    sets = [
        ([], None),
        (["too early", "somebody else", "the relay, by itself"], None),
        (["nothing counts"], 0),
        (["up to 9"], 9),
        (["up to 9", "nothing counts"], 0),
        (["up to 9", "up to 5, by the relay"], 5),
        (["the relay, and 20 of Vera's"], 20),
        (["up to 5, by the relay", "the relay, and 20 of Vera's"], 20),
        (["up to 5, by the relay", "up to 9", "the relay, and 20 of Vera's"], 9),
    ]
    read = {name: authors.decode_revocation(data, PLACE) for name, data in valid.items()}
    for names, limit in sets:
        some = [read[name] for name in names]
        if owned.limit_of(inc, whom.grant.certificates, some, authors.member_of) != limit:
            raise AssertionError(names)
    return {
        "valid": [
            {
                "name": name,
                "hex": data.hex(),
                "member": read[name].member.hex(),
                "serial": str(read[name].serial),
                "counted": [[text_of(i), str(s)] for i, s in sorted(read[name].counted.items())],
            }
            for name, data in valid.items()
        ],
        "invalid": [invalid(*entry) for entry in bad],
        "limits": {
            "record": whom.data.hex(),
            "sets": [
                {"revocations": names, "limit": None if limit is None else str(limit)}
                for names, limit in sets
            ],
        },
    }


def groups():
    return {
        "owned": {
            "salt": SALT.hex(),
            "owner": OWNER.hex(),
            "board": PLACE.hex(),
            "records": records(),
            "grants": grants(),
            "revocations": revocations(),
        }
    }
