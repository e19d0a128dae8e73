import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Source } from '../contract.ts'
import { type Batch, compare } from '../measure/compare.ts'
import { Ledger } from '../measure/ledger.ts'
import * as ownLoops from '../measure/loops.ts'
import { effortFor } from '../measure/rounds.ts'
import { stampOf, subjectOf } from '../subjects.ts'

// Times next() under a lease against next() with state 'process'. Each has an instance of the library and of
// the loop for itself, because V8's type feedback from one would slow the other.

export interface LeaseNextTask {
  engine: 'native' | 'js'
  /** Two folders with the same build, for the batch and for the yardstick. */
  builds: readonly [string, string]
  /** Whether the lease is the yardstick. */
  isSwapped: boolean
  isQuick: boolean
}

const { engine, builds, isSwapped, isQuick } = JSON.parse(process.argv[2] as string) as LeaseNextTask
const subject = subjectOf({ name: `graupel-${engine}` })
const size = 65_536
const stamp = stampOf(subject, { layout: 'wide', node: 1 })
const ledgers = { lease: new Ledger(stamp), process: new Ledger(stamp) }

async function prepare(build: string, kind: 'lease' | 'process', loops: typeof ownLoops): Promise<Batch> {
  const load = (file: string) => import(pathToFileURL(join(build, 'dist', file)).href)
  const { createGenerator, layouts }: typeof import('graupel') = await load('index.js')
  const { acquireLease }: typeof import('graupel/lease') = await load('lease/index.js')
  const { memoryStore }: typeof import('graupel/stores/memory') = await load('stores/memory.js')
  const named = { layout: layouts.wide, namespace: `graupel bench ${kind}` }
  const source =
    kind === 'lease'
      ? createGenerator({
          engine,
          lease: await acquireLease({ ...named, store: memoryStore({ assumeOneProcess: true }) }),
        })
      : createGenerator({ engine, ...named, node: 1, state: 'process' })
  const loop = loops.keepNext(source as Source, size, subject)
  if (loop === undefined) throw new Error('a generator has no next()')
  return { size, run: loop.run, check: () => ledgers[kind].add(loop.ids()) }
}

const otherLoops: typeof ownLoops = await import(new URL('../measure/loops.ts?other', import.meta.url).href)
const batch = await prepare(builds[0], isSwapped ? 'process' : 'lease', ownLoops)
const yardstick = await prepare(builds[1], isSwapped ? 'lease' : 'process', otherLoops)
const outcome = await compare(batch, yardstick, effortFor(subject, { isQuick }))
process.send?.({ ...outcome, check: ledgers.lease.report() })
process.disconnect?.()
