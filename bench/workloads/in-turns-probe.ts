import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Source } from '../contract.ts'
import { type Batch, compare } from '../measure/compare.ts'
import { Ledger } from '../measure/ledger.ts'
import * as ownLoops from '../measure/loops.ts'
import { effortFor } from '../measure/rounds.ts'
import { stampOf, subjectOf, taggedWide } from '../subjects.ts'

// Times next() of a generator against next() of another one, in turns. Each has an instance of the library
// and of the loop for itself, because V8's type feedback from one would slow the other.

export interface InTurnsTask {
  engine: 'native' | 'js'
  /** The generator that is timed: of a lease, or a view. */
  timed: 'lease' | 'view'
  /** Two folders with the same build, for the batch and for the yardstick. */
  builds: readonly [string, string]
  /** Whether the timed generator is the yardstick. */
  isSwapped: boolean
  isQuick: boolean
}

const { engine, timed, builds, isSwapped, isQuick } = JSON.parse(process.argv[2] as string) as InTurnsTask
const subject = subjectOf({ name: `graupel-${engine}` })
const size = 65_536
const stamp = stampOf(subject, { layout: 'wide', node: 1 })
const ledgers = { timed: new Ledger(stamp), plain: new Ledger(stamp) }

/** Loads a build, and makes the generator that is timed, or the plain one. */
async function makeSource(build: string, which: 'timed' | 'plain'): Promise<Source> {
  const load = (file: string) => import(pathToFileURL(join(build, 'dist', file)).href)
  const graupel: typeof import('graupel') = await load('index.js')
  const { createGenerator, layouts } = graupel
  const namespace = `graupel bench ${which}`
  const state = 'process'
  if (timed === 'view') {
    const layout = taggedWide(graupel)
    const ids = createGenerator({ engine, namespace, layout, node: 1, state })
    return (which === 'timed' ? ids.with({ shard: 5 }) : ids) as Source
  }
  const named = { layout: layouts.wide, namespace }
  if (which === 'plain') return createGenerator({ engine, ...named, node: 1, state }) as Source
  const { acquireLease }: typeof import('graupel/lease') = await load('lease/index.js')
  const { memoryStore }: typeof import('graupel/stores/memory') = await load('stores/memory.js')
  const lease = await acquireLease({ ...named, store: memoryStore({ assumeOneProcess: true }) })
  return createGenerator({ engine, lease }) as Source
}

async function prepare(build: string, which: 'timed' | 'plain', loops: typeof ownLoops): Promise<Batch> {
  const loop = loops.keepNext(await makeSource(build, which), size, subject)
  if (loop === undefined) throw new Error('a generator has no next()')
  return { size, run: loop.run, check: () => ledgers[which].add(loop.ids()) }
}

const otherLoops: typeof ownLoops = await import(new URL('../measure/loops.ts?other', import.meta.url).href)
const batch = await prepare(builds[0], isSwapped ? 'plain' : 'timed', ownLoops)
const yardstick = await prepare(builds[1], isSwapped ? 'timed' : 'plain', otherLoops)
const outcome = await compare(batch, yardstick, effortFor(subject, { isQuick }))
process.send?.({ ...outcome, check: ledgers.timed.report() })
process.disconnect?.()
