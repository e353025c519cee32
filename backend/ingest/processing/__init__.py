"""An accepted document becomes rows: host, environment, results, levels, indices."""
