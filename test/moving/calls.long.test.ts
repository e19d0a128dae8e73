import * as graupel from 'graupel'
import { createGenerator, decode, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { read } from '../support/documents.ts'
import { load, rows } from './packages.ts'

// Runs the calls in docs/moving-from-npm.md: each line with the other package and with graupel.

const epoch = Date.UTC(2020, 0, 1)
const ms = Date.UTC(2026, 5, 1, 12)
const intformat = (buffer: Buffer, base: 'dec') => buffer.readBigUInt64BE().toString(base === 'dec' ? 10 : 16)

/** The names that the lines of a section use, beside the exports of graupel. */
const scopes: Record<string, () => { layout: Layout; node: number } & Record<string, unknown>> = {
  '@sapphire/snowflake'() {
    const { Snowflake } = load('@sapphire/snowflake')
    const snowflake = Object.assign(new Snowflake(epoch), { workerId: 3n, processId: 7n })
    return { layout: layoutFor('@sapphire/snowflake'), node: 3 * 32 + 7, Snowflake, snowflake }
  },
  'snowflake-id'() {
    const SnowflakeId = load('snowflake-id').default
    return {
      layout: layoutFor('snowflake-id'),
      node: 42,
      SnowflakeId,
      snowflake: new SnowflakeId({ mid: 42, offset: epoch }),
    }
  },
  'flake-idgen'() {
    const FlakeId = load('flake-idgen')
    const flake = new FlakeId({ datacenter: 9, worker: 7, epoch })
    return { layout: layoutFor('flake-idgen'), node: 295, FlakeId, flake, intformat }
  },
  'nodejs-snowflake'() {
    const { Snowflake } = load('nodejs-snowflake')
    const snowflake = new Snowflake({ custom_epoch: epoch, instance_id: 77 })
    return { layout: layoutFor('nodejs-snowflake'), node: 77, Snowflake, snowflake }
  },
  'tsid-ts'() {
    const { TSID, TSIDGenerator } = load('tsid-ts')
    return {
      layout: layouts.tsid,
      node: 5,
      TSID,
      TSIDGenerator,
      generator: new TSIDGenerator(5),
      text: '0QJ99SJ000ME7',
    }
  },
}

/** Returns the layout in the document, with the epoch of this file. */
function layoutFor(name: string): Layout {
  const { layout } = rows().find((row) => row.name === name) as { layout: Layout }
  return graupel.defineLayout({ ...layout, epochMs: epoch })
}

interface Line {
  what: string
  before: string
  after: string
}

const sections = Object.keys(scopes).map((name) => {
  const [, section = ''] = read('docs/moving-from-npm.md').split(`\n## ${name}\n`)
  const [, table = ''] = section.split('| | before | after |\n|---|---|---|\n')
  const lines = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| (.+?) \| `(.+?)` \| `(.+?)` \|$/gm)]
  return { name, lines: lines.map(([, what, before, after]) => ({ what, before, after }) as Line) }
})

describe.each(sections)('with $name', ({ name, lines }) => {
  const { layout, node, ...scope } = (scopes[name] as (typeof scopes)[string])()
  const ids = createGenerator({ layout, node, namespace: 'calls' })
  const id = graupel.composeId({ timestampMs: ms, node, sequence: 9 }, layout)
  const names = { ...graupel, layout, id, ms, epoch, ids, list: [3n, 1n, 2n], ...scope }

  function run(line: string): unknown {
    // A line with several statements is a set-up, and its result is the first name.
    const code = line.includes(';') ? `${line}; snowflake` : line
    return new Function(...Object.keys(names), 'code', 'return eval(code)')(...Object.values(names), code)
  }

  it('has lines', () => expect(lines.length).toBeGreaterThan(1))

  it.each(lines)('$what: both lines do the same', async ({ what, before, after }) => {
    const [old, own] = [await run(before), await run(after)]
    if (what === 'set up' || what === 'the same by one number') {
      const first = await firstOf(old)
      expect(decode(first, layout).node).toBe((own as graupel.IdGenerator).node)
    } else if (/\bids\.next/.test(after)) {
      expect(isText(old)).toBe(isText(own))
      expect(decode(toId(old), layout).node).toBe(node)
      expect(decode(toId(own), layout).node).toBe(node)
      expect(Math.abs(graupel.timestampMsOf(toId(old), layout) - Date.now())).toBeLessThan(60_000)
    } else {
      expect(own instanceof Uint8Array ? [...own] : own).toEqual(old instanceof Uint8Array ? [...old] : old)
    }
  })
})

const isText = (made: unknown) => typeof made === 'string'

function toId(made: unknown): bigint {
  if (typeof made === 'bigint') return made
  if (made instanceof Uint8Array) return graupel.parseId(made, 'bytes')
  return graupel.parseId(String(made), String(made).length === 13 ? 'base32' : 'decimal')
}

/** Makes an id by a generator of graupel or of another package. */
// biome-ignore lint/suspicious/noExplicitAny: the generators of the packages have no type in common.
async function firstOf(made: any): Promise<bigint> {
  if (made.create) return made.create().number
  return toId(await (made.next ?? made.generate ?? made.getUniqueID).call(made))
}
