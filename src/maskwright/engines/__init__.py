"""Plug-ins for engines that run models: one module each, named after its engine.

Nothing is imported here. Each module imports its engine inside the functions that need it, so that a
module can be read, checked and tested without the engine. Only public names of the library are used:
what these modules do, anybody's engine can do. `docs/engines.md` shows each in five lines.
"""
