// The provider's entry: filled by its own folder.
