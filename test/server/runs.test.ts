import fc from 'fast-check'
import { defineLayout, layouts } from 'graupel'
import { expect, test } from 'vitest'
import { bytesOfRuns, jsonOfRuns, Runs, runRuleOf } from '../../server/src/http/runs.ts'
import { expandRuns, readRuns } from '../support/runs.ts'
import { startService } from './support/in-process.ts'

test('runs have exactly the numbers that were added in parts, and as few runs as there are gaps', () => {
  const gaps = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 70 }), (extra, step, part) => {
      let last = 0n
      // Gaps of whole steps and of other widths. Most numbers follow one another.
      const numbers = BigUint64Array.from(extra, (more) => {
        last += BigInt(step) + BigInt([0, 0, 1, step][more] as number)
        return last
      })
      const runs = new Runs({ stride: step, fixed: 0n })
      for (let at = 0; at < numbers.length; at += part) runs.add(numbers.subarray(at, at + part))
      const all = runs.all()
      expect(expandRuns(readRuns('runs', bytesOfRuns(all)))).toEqual([...numbers])
      expect(expandRuns(readRuns('runs-json', jsonOfRuns(all)))).toEqual([...numbers])
      const breaks = [...numbers].filter((number, i) => i === 0 || number - (numbers[i - 1] as bigint) !== BigInt(step))
      expect(all.length).toBe(breaks.length)
    }),
  )
})

// Ids of this layout follow one another from the last of a tick to the first of the next.
const bare = defineLayout({
  name: 'bare',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['sequence', 8],
  ],
})
const made = [...Object.values(layouts).filter(({ decodeOnly }) => !decodeOnly), bare]

test.each(made)('no run of $name crosses a tick, and each tick has one run', (layout) => {
  const { timestamp, sequence, nodeFields } = layout
  const capacity = 2 ** sequence.bits
  const node = nodeFields.reduce((all, { bits, shift }) => all | ((2n ** BigInt(bits) - 1n) << BigInt(shift)), 0n)
  // The last slots of a tick, and the first of the tick after it.
  const slots = Array.from({ length: 40 }, (_, i) => [
    1000 + Math.floor((capacity - 20 + i) / capacity),
    (capacity - 20 + i) % capacity,
  ])
  const ids = slots.map(
    ([tick = 0, number = 0]) =>
      (BigInt(tick) << BigInt(timestamp.shift)) | node | (BigInt(number) << BigInt(sequence.shift)),
  )
  const runs = new Runs(runRuleOf(layout))
  runs.add(BigUint64Array.from(ids))
  const all = runs.all()
  expect(expandRuns(all)).toEqual(ids)
  expect(all.map(({ count }) => count)).toEqual([20, 20])
})

test('numbers of a segment are one run up to a gap, with the stride of the configuration', async () => {
  const { url } = await startService({ segments: { orders: { stride: 10, offset: 3, step: 100_000 } } })
  const answer = await fetch(`${url}/v1/segments/orders?count=65536&format=runs`)
  expect(answer.headers.get('content-length')).toBe('16')
  const [run] = readRuns('runs', new Uint8Array(await answer.arrayBuffer()))
  expect(run).toEqual({ first: 3n, count: 65_536, stride: 10 })
  const json = await fetch(`${url}/v1/segments/orders?count=2`, {
    headers: { accept: 'application/vnd.graupel.runs+json' },
  })
  expect(await json.json()).toEqual({ runs: [{ first: '655363', count: 2, stride: 10 }] })
})
