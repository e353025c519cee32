"""People whom a company's own accounts sign in: through a provider, or by a proxy in front."""
