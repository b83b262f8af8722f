"""What the library's own objects really do, by definitions: as they read its data, these are no oracles."""
