import fc from 'fast-check'
import { expect, it } from 'vitest'
import { slotAbove } from '../../src/engine/js/slot-above.ts'
import { coreSpec } from '../../src/engine/source/core-spec.ts'
import { createSeeded } from '../../src/generator/create.ts'
import { composeId, defineLayout, type Field, type Layout } from '../../src/index.ts'
import { engines, freshNamespace } from '../support/engines.js'

// The least slot of a node whose id is larger than another id, over layouts that begin with the timestamp.

const widths = (most: number) => fc.array(fc.integer({ min: 1, max: most }), { maxLength: 3 })

/** Layouts with up to three node fields, before and after the sequence. */
function layoutsOf(timestamp: number, sequence: number, node: number): fc.Arbitrary<Layout> {
  return fc
    .tuple(fc.integer({ min: 1, max: timestamp }), fc.integer({ min: 1, max: sequence }), widths(node), fc.nat())
    .map(([time, numbers, nodes, place]) => {
      const fields: Field[] = nodes.map((bits, at) => [`node${at}`, bits])
      fields.splice(place % (fields.length + 1), 0, ['sequence', numbers])
      return defineLayout({
        name: 'random',
        epochMs: 0,
        tickMs: 1,
        fields: [['timestamp', time], ...fields],
        unsigned: true,
      })
    })
}

function aboveOf(layout: Layout, node: number, id: bigint): bigint | undefined {
  const options = { layout, namespace: 'above', clock: 'wall', state: { kind: 'process' }, openTimeoutMs: 0 } as const
  return slotAbove(coreSpec({ ...options, sequenceStart: 'zero', seed: 0, history: false }, node, 0, 0), id)
}

/** The id of a slot, in numbers that a search can count through. */
const idOf = (layout: Layout, node: number, slot: number) => {
  const capacity = 2 ** layout.sequence.bits
  return composeId({ timestampMs: Math.floor(slot / capacity), node, sequence: slot % capacity }, layout)
}

it('is the first of all slots, in each of 2 000 small layouts', () => {
  fc.assert(
    fc.property(layoutsOf(3, 3, 2), fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (layout, some, bits) => {
      const node = some % layout.nodes
      const id = BigInt.asUintN(layout.bits, bits)
      const capacity = 2 ** layout.sequence.bits
      const slots = (layout.maxTick + 1) * capacity
      let least = 0
      while (least < slots && idOf(layout, node, least) <= id) least++
      expect(aboveOf(layout, node, id)).toBe(least < slots ? BigInt(least) : undefined)
    }),
    { numRuns: 2000 },
  )
})

it.skipIf(engines.length !== 2)('is the first id of both engines after the id, in each of 1 000 large layouts', () => {
  fc.assert(
    fc.property(layoutsOf(40, 15, 3), fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (layout, some, bits) => {
      const node = some % layout.nodes
      const id = BigInt.asUintN(layout.bits, bits)
      const clock = () => Number(id >> BigInt(layout.timestamp.shift))
      const [native, js] = (['native', 'js'] as const).map((engine) => {
        const options = { layout, node, clock, engine, namespace: freshNamespace(), onOverflow: 'advance' as const }
        const ids = createSeeded<readonly Field[]>(options, 1)
        try {
          expect(ids.observe(id)).toBe(id)
          return ids.next()
        } catch (error) {
          return (error as { code: string }).code
        } finally {
          ids.close()
        }
      })
      expect(js).toBe(native)
      const slot = aboveOf(layout, node, id)
      if (slot === undefined) {
        expect(native).toBe('ERR_LAYOUT_EXPIRED')
        return
      }
      const width = layout.sequence.bits
      const [timestampMs, sequence] = [Number(slot >> BigInt(width)), Number(BigInt.asUintN(width, slot))]
      expect(native).toBe(composeId({ timestampMs, node, sequence }, layout))
      expect(native).toBeGreaterThan(id)
    }),
    { numRuns: 1000 },
  )
})
