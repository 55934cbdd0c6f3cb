"""The compiled hot path: lexemes, token trie, network, automaton, masks, matcher.

Nothing here knows what JSON is, and nothing here does I/O. Each `.pxd` is the data dictionary of
its module. `docs/architecture.md` says in which order to read them.
"""
