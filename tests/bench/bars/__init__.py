"""The bars of `make bench`, one module each; `tests.bench.bars.all` names them."""
