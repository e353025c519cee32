"""Upload, store, process and list runs."""
