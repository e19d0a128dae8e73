// The module that the import of others is compared with.
export {}
