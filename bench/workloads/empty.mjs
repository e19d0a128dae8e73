// The empty module that imports are compared with.
