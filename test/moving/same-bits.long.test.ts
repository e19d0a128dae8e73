import fc from 'fast-check'
import { composeId, createGenerator, decode, type Layout, layouts } from 'graupel'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { load, type Package, type Parts, packages, rows } from './packages.ts'

// docs/moving-from-npm.md names the layout with the bits of each package. Here the package and graupel read
// each other's ids.

const table = rows()

// The time grows with each test, because some packages remember the last time for all of their instances. It
// begins after the real time, which the packages saw when they were loaded.
let now = Date.now() + 86_400_000

it('has a row in the document for each package', () => {
  expect(table.map(({ name }) => name).toSorted()).toEqual(Object.keys(packages).toSorted())
})

describe.each(table)('ids of $name', ({ name, epochMs, formula, numbers, preset, layout }) => {
  const old = packages[name] as Package
  const { firstNode = 0, lastNode = 2 ** layout.nodeFields.reduce((sum, { bits }) => sum + bits, 0) - 1, partsOf } = old

  beforeEach(() => {
    now += 10_000
    vi.useFakeTimers({ toFake: ['Date'], now })
  })
  afterEach(() => vi.useRealTimers())

  if (epochMs !== undefined) {
    // This test comes first, because an option of node-snowflake is set for the whole process.
    it('have the default epoch and the default node in the document', async () => {
      const id = await byDefault(name)
      expect(Math.abs(decode(id, layout).timestampMs - now)).toBeLessThan(10_000)
      if (numbers.length > 0) expect(Object.values(decode(id, layout).fields)).toEqual(numbers)
    })
  }

  it.each([firstNode, firstNode + 6, lastNode])(
    'have the time, the number %i of its settings and the sequence that went in',
    async (node) => {
      const settings = old.settings(node)
      expect(numberBy(formula, settings)).toBe(node)
      const made = old.open(settings, layout.epochMs)
      let count = 0
      for (const timestampMs of [now + 1, now + 2, now + 999]) {
        vi.setSystemTime(timestampMs)
        for (const start of old.sequences ?? [0, 1, 2, 3]) {
          const id = await made()
          const parts = own(id, layout)
          expect(composeId(parts, layout)).toBe(id)
          const sequence = old.countsThrough ? count++ : start
          expect(parts).toMatchObject(old.hasOwnClock ? { node } : { timestampMs, node, sequence })
        }
      }
    },
  )

  if (partsOf) {
    it('have the same parts for its own decoder as for graupel', () => {
      const last = 2n ** BigInt(layout.bits) - 1n
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: last }), (id) => {
          expect(own(id, layout)).toMatchObject(partsOf(id, layout.epochMs))
        }),
        { numRuns: 300 },
      )
    })

    it('of graupel can be decoded by the package', () => {
      vi.useRealTimers()
      const ids = createGenerator({ layout, node: lastNode, namespace: name })
      for (const id of ids.take(50)) {
        const parts = partsOf(id, layout.epochMs)
        expect(own(id, layout)).toMatchObject(parts)
        expect(parts.node).toBe(lastNode)
      }
      ids.close()
    })
  }

  if (preset !== undefined) {
    it('have the bits of the preset', () => {
      const named = layouts[preset]
      expect(layout.fields).toEqual(named.fields)
      if (epochMs !== undefined) expect(epochMs).toBe(named.epochMs)
    })
  }
})

function numberBy(formula: string, settings: Readonly<Record<string, number>>): unknown {
  return new Function(...Object.keys(settings), `return ${formula}`)(...Object.values(settings))
}

function own(id: bigint, layout: Layout): Parts {
  const { timestampMs, node, sequence } = decode(id, layout)
  return { timestampMs, node, sequence }
}

/** Makes an id without options, or with only those that the package requires. */
async function byDefault(name: string): Promise<bigint> {
  const parts = load(name)
  switch (name) {
    case 'snowyflake':
      return new parts.Snowyflake().nextId()
    case 'snowflake-id':
      return BigInt(new parts.default().generate())
    case 'flakeid':
      return BigInt(new parts().gen())
    case 'flake-idgen':
      return new parts().next().readBigUInt64BE()
    case 'tsid-ts':
      return parts.getTsid().number
    case 'node-snowflake':
      return BigInt(parts.Snowflake.nextId())
    case 'snowflake-uuid':
      return new parts.Worker().nextId()
    case '@akashrajpurohit/snowflake-id':
      return BigInt(parts.SnowflakeId().generate())
    case 'snowflake-generator':
      return new parts.Generator().generate()
    case '@theinternetfolks/snowflake':
      return BigInt(parts.Snowflake.generate())
    case '@skorotkiewicz/snowflake-id':
      return BigInt(await new parts.Snowflake(1).generate())
    case 'snowflakify':
      return new parts.default().nextId()
    default:
      throw new Error(`${name} has no default epoch`)
  }
}
