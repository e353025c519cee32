"""The copy in ClickHouse, which all web machines and workers of a site share."""
