from .network import Network

class Automaton:
    network: Network
    n_states: int
    def __init__(self, network: Network, max_bytes: int = ...) -> None: ...
    @property
    def memory_size_bytes(self) -> int: ...
