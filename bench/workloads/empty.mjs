// What the import of others is compared with.
