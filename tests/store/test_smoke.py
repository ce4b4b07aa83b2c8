from clew.store.store import Store


def test_what_was_appended_is_there(store: Store) -> None:
    session = store.open_session(title="a")
    store.append(session, [{"role": "user", "content": "hi"}])
    assert [said.message for said in store.messages(session)] == [{"role": "user", "content": "hi"}]
