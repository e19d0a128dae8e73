// Makes ids by several views of one generator. Used by tests, by worker threads and by processes.
import { defineLayout } from 'graupel'

/** A layout whose tag need not be chosen, so the generator makes ids beside its views. */
export const layout = defineLayout({
  name: 'views',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 4],
    ['shard', 6, 'tag?'],
    ['sequence', 12],
  ],
})

export const shards = [0, 1, 42, 63]

/** All bits of an id but those of its tag: two ids with the same bits are of the same slot. */
const slotBits = 2n ** 63n - 1n - (63n << 12n)

/** @param {BigUint64Array} ids */
export const slotsOf = (ids) => ids.map((id) => id & slotBits)

/** @param {BigUint64Array} ids @returns {number[]} the shards of the ids, ascending */
export const shardsOf = (ids) => [...new Set(ids.map((id) => (id >> 12n) & 63n))].map(Number).sort((a, b) => a - b)

/**
 * Makes ids by a generator and its views, one after the other, by each of their calls.
 *
 * @param {import('graupel').IdGenerator<typeof layout.fields>} ids
 * @param {(made: ArrayLike<bigint>) => boolean} keep - Takes ids, and returns whether to go on.
 */
export async function makeIds(ids, keep) {
  const makers = shards.map((shard) => (shard === 0 ? ids : ids.with({ shard })))
  const array = new BigUint64Array(70)
  for (let round = 0; ; round++) {
    for (const [i, { next, nextString, nextAsync, fill, take }] of makers.entries()) {
      const ways = [
        () => [next(), next(), next()],
        () => fill(array),
        () => [BigInt(nextString())],
        () => take(40),
        async () => [await nextAsync()],
      ]
      const way = /** @type {() => ArrayLike<bigint> | Promise<ArrayLike<bigint>>} */ (ways[(round + i) % ways.length])
      if (!keep(await way())) return
    }
  }
}

/**
 * Returns a function for `makeIds` that records ids in an array until the array is full.
 *
 * @param {BigUint64Array} record
 * @param {Int32Array} [count] - Its first element becomes the number of ids.
 */
export function recorder(record, count = new Int32Array(1)) {
  return (/** @type {ArrayLike<bigint>} */ made) => {
    let at = count[0] ?? 0
    for (let i = 0; i < made.length && at < record.length; i++) record[at++] = made[i] ?? 0n
    Atomics.store(count, 0, at)
    return at < record.length
  }
}
