/**
 * For probes that watch the resident set. A nursery of one mebibyte, from the start: otherwise V8 makes it larger, by
 * more than what is looked for, when it likes.
 */
export const memoryFlags = ['--expose-gc', '--min-semi-space-size=1', '--max-semi-space-size=1']
