"""The tables, as numbered migrations: each is one transaction, applied once, never changed after a release."""

from __future__ import annotations

import time

from clew.store.database import Database, Work
from clew.store.trouble import NewerSchema

LOG = (
    # A conversation is what a person calls one, however many sessions it took.
    """CREATE TABLE conversation (
        number {serial}, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, cwd TEXT NOT NULL, model TEXT NOT NULL,
        tags TEXT NOT NULL, source TEXT NOT NULL, origin TEXT NOT NULL, parent TEXT, created {real} NOT NULL,
        tip TEXT NOT NULL, seed {bytes} NOT NULL)""",
    "CREATE INDEX conversation_parent ON conversation (parent)",
    # A session is a stretch between two compactions: it opens with pointers and goes on with the log from `since`.
    """CREATE TABLE session (
        id TEXT PRIMARY KEY, conversation {whole} NOT NULL REFERENCES conversation, parent TEXT, origin TEXT NOT NULL,
        number {whole} NOT NULL, system {bytes} NOT NULL, since {whole} NOT NULL, until {whole}, opened {real} NOT NULL,
        ended {real}, end_reason TEXT, state TEXT NOT NULL)""",
    "CREATE INDEX session_conversation ON session (conversation, number)",
    # The log: one row for each message. Short ones stand in their row, long ones once in `content`. The running hash is
    # kept at the knots alone: every message's would be a tenth of what an append writes.
    """CREATE TABLE message (
        seq {serial}, conversation {whole} NOT NULL, place {whole} NOT NULL,
        hash {bytes} NOT NULL, chain {bytes}, at {real} NOT NULL, role TEXT NOT NULL, tool TEXT NOT NULL,
        derived {whole} NOT NULL DEFAULT 0, standing {whole} NOT NULL DEFAULT 1, revised {whole},
        body {bytes}, content {bytes}, outside TEXT {order})""",
    "CREATE INDEX message_line ON message (conversation, place{then_seq})",
    # Histories are recognised by their knots, not by every message: the index of all of them would be the larger half
    # of what an append writes.
    "CREATE INDEX message_knot ON message (chain) WHERE chain IS NOT NULL AND standing = 1",
    "{feed_index}",
    "CREATE TABLE content (hash {bytes} PRIMARY KEY, body {bytes} NOT NULL)",
    """CREATE TABLE opening (
        session TEXT NOT NULL REFERENCES session, n {whole} NOT NULL, message {whole} NOT NULL REFERENCES message,
        PRIMARY KEY (session, n)) {clustered}""",
    "CREATE INDEX opening_message ON opening (message)",
    # Who may write: one row for each conversation and purpose.
    """CREATE TABLE lease (
        conversation {whole} NOT NULL REFERENCES conversation, purpose TEXT NOT NULL, owner TEXT NOT NULL,
        until {real} NOT NULL, PRIMARY KEY (conversation, purpose)) {clustered}""",
    # What lies outside the rows, and which messages point to it.
    "CREATE TABLE blob (name TEXT PRIMARY KEY, size {whole} NOT NULL, at {real} NOT NULL) {clustered}",
    "{blob_table}",
    """CREATE TABLE blob_use (
        name TEXT NOT NULL REFERENCES blob, message {whole} NOT NULL REFERENCES message,
        PRIMARY KEY (name, message)) {clustered}""",
    "CREATE INDEX blob_use_message ON blob_use (message)",
    "CREATE TABLE tombstone (id TEXT PRIMARY KEY, at {real} NOT NULL, reason TEXT NOT NULL, messages {whole} NOT NULL)",
)

# One row for each call of a provider; it outlives its conversation, for the money was spent.
# Cost in millionths of a millionth of a dollar, so that sums are exact.
LEDGER = (
    """CREATE TABLE call (
        number {serial}, session TEXT NOT NULL, conversation {whole},
        at {real} NOT NULL, quarter {whole} NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
        purpose TEXT NOT NULL, failed TEXT, input {whole} NOT NULL, output {whole} NOT NULL,
        cache_read {whole} NOT NULL, cache_write {whole} NOT NULL,
        reasoning {whole} NOT NULL, cost {whole}, priced TEXT, tools TEXT NOT NULL, raw TEXT)""",
    "CREATE INDEX call_at ON call (at)",
    "CREATE INDEX call_conversation ON call (conversation)",
)

# The window a provider stated when it refused a prompt: one for each model at each place.
WINDOWS = (
    """CREATE TABLE learned_window (
        endpoint TEXT NOT NULL, model TEXT NOT NULL, size {whole} NOT NULL, said TEXT NOT NULL, at {real} NOT NULL,
        PRIMARY KEY (endpoint, model)) {clustered}""",
)

# Summaries of stretches of a conversation, and summaries of those. `first_row` and `last_row` are numbers of messages
# and not places, which move when a host puts something in between. `chain` is the running hash behind the last message:
# while it fits, nothing that nodes stand for was changed. `host_session` knows conversations by another host's ids.
NODES = (
    """CREATE TABLE node (
        number {serial}, id TEXT NOT NULL, conversation {whole} NOT NULL REFERENCES conversation,
        depth {whole} NOT NULL, first_row {whole} NOT NULL, last_row {whole} NOT NULL, row_count {whole} NOT NULL,
        prints {bytes} NOT NULL, chain {bytes} NOT NULL, parent {whole}, text {bytes} NOT NULL, tokens {whole} NOT NULL,
        made_by TEXT NOT NULL, degraded {whole} NOT NULL, stale {whole} NOT NULL, created {real} NOT NULL,
        archived {real}, replaced_by {whole}, UNIQUE (conversation, id))""",
    "CREATE INDEX node_top ON node (conversation) WHERE parent IS NULL AND archived IS NULL",
    "CREATE INDEX node_ailing ON node (conversation, depth) WHERE archived IS NULL AND degraded + stale > 0",
    "CREATE INDEX node_parent ON node (parent)",
    """CREATE TABLE host_session (
        id TEXT PRIMARY KEY, conversation {whole} NOT NULL REFERENCES conversation) {clustered}""",
)

MIGRATIONS = (LOG, LEDGER, WINDOWS, NODES)
VERSION = len(MIGRATIONS)


def migrate(database: Database) -> None:
    """Bring a store to this clew's schema. Costs one look when there is nothing to do, whatever the store's size."""
    with database.read() as work:
        if _version(work, database) == VERSION:
            return
    for _ in MIGRATIONS:
        with database.write() as work:
            database.alone(work)
            work.run(
                "CREATE TABLE IF NOT EXISTS clew_schema (version BIGINT PRIMARY KEY, at DOUBLE PRECISION NOT NULL)"
            )
            done = _version(work, database)
            if done == VERSION:
                return
            for statement in (text.format(**database.types) for text in MIGRATIONS[done]):
                if statement:
                    work.run(statement)
            work.run("INSERT INTO clew_schema VALUES (?, ?)", (done + 1, time.time()))


def _version(work: Work, database: Database) -> int:
    if not database.has_table(work, "clew_schema"):
        return 0
    row = work.one("SELECT MAX(version) FROM clew_schema")
    version = int(row[0] or 0) if row else 0
    if version > VERSION:
        raise NewerSchema(
            f"this store has schema {version}, written by a newer clew; this one knows up to {VERSION}. "
            "Nothing was changed: use the newer clew, or export the sessions with it."
        )
    return version
