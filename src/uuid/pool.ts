import { platform } from '#platform'

/**
 * Random words. A call of `crypto` for each UUID would take longer than all the rest; a call writes 65 536
 * bytes at most.
 */
export const pool: Int32Array<ArrayBuffer> = /* @__PURE__ */ (() => new Int32Array(65_536 / 4))()
let taken = /* @__PURE__ */ (() => pool.length)()

/** Takes words of the pool, which no other UUID gets. Returns the index of the first. */
export function take(count: number): number {
  if (taken > pool.length - count) {
    // All processes that start from a snapshot would have these words.
    platform.refuseSnapshot?.()
    globalThis.crypto.getRandomValues(pool)
    taken = 0
  }
  taken += count
  return taken - count
}
