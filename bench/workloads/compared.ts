import { count } from '../bars.ts'
import type { Check, RunOptions, Source, Subject, Wanted, Workload } from '../contract.ts'
import { type Batch, clockReadings, compare } from '../measure/compare.ts'
import { Ledger } from '../measure/ledger.ts'
import * as ownLoops from '../measure/loops.ts'
import { effortFor } from '../measure/rounds.ts'
import { stampOf } from '../subjects.ts'

// Workloads that time a batch in turns with a yardstick, or with the same batch of another build.

type Loops = typeof ownLoops

interface Prepared {
  batch: Batch
  report?(): Check
  close?(): void
}

export interface Compared extends Pick<Workload, 'name' | 'title' | 'onEveryNode' | 'section' | 'of'> {
  yardstick: string
  pauseMs?: number
  /** Makes a batch, or the subject that makes the batch. */
  makeYardstick(subject: Subject): Batch | Subject
  prepare(subject: Subject, loops: Loops): Promise<Prepared | undefined>
}

export function workload({ prepare, makeYardstick, pauseMs, ...rest }: Compared): Workload {
  return {
    ...rest,
    unit: 'ns/id',
    isCompared: true,
    async run(subject: Subject, options: RunOptions) {
      const own = await prepare(subject, ownLoops)
      if (own === undefined) return undefined
      const yardstick = options.against ?? makeYardstick(subject)
      const other: Prepared | undefined =
        'run' in yardstick ? { batch: yardstick } : await prepare(yardstick, await otherLoops())
      if (other === undefined) return undefined
      const outcome = await compare(own.batch, other.batch, effortFor(subject, options), pauseMs)
      own.close?.()
      other.close?.()
      return { ...outcome, ...(own.report && { check: own.report() }) }
    },
  }
}

/** Loads a second instance of the module. */
async function otherLoops(): Promise<Loops> {
  return import(new URL('../measure/loops.ts?other', import.meta.url).href)
}

/** The sections that the page for readers also shows by release of Node. */
export const engines = 'Engines'
export const keptIds = 'Ids that are kept'

interface Made extends Pick<Workload, 'name' | 'title' | 'onEveryNode' | 'section' | 'of'>, Pick<Compared, 'pauseMs'> {
  wanted: Wanted
  size?: number
  keep?:
    | 'keepNext'
    | 'keepBigints'
    | 'keepStrings'
    | 'keepWritten'
    | 'keepAsKeys'
    | 'keepInJson'
    | 'keepNumbers'
    | 'keepFilled'
    | 'keepUuids'
    | 'keepUuidsWritten'
    | 'keepUuidsFilled'
  /** Strings made by `String(next())` replace the usual yardstick. */
  isOfNext?: true
}

/**
 * Times ids against as many readings of the clock. A batch takes milliseconds, so that the first ids of a
 * tick, which cost more, have the share that they have in steady use.
 */
function made({ wanted, size = 65_536, keep = 'keepNext', isOfNext, ...rest }: Made): Workload {
  const isFill = keep === 'keepFilled' || keep === 'keepUuidsFilled'
  return workload({
    ...rest,
    yardstick: isOfNext ? 'String(next())' : isFill ? 'BigUint64Array#fill' : 'Date.now()',
    makeYardstick: (subject) =>
      isOfNext ? stringsOfNext(subject) : isFill ? arrayFill(size) : clockReadings(Math.min(size, 65_536)),
    async prepare(subject, loops) {
      // The engines do not share a key.
      const namespace = loops === ownLoops ? '' : 'yardstick'
      const source = (await subject.load())({ ...wanted, namespace })
      // Rivals make fewer ids, because they may be a thousand times slower.
      const isShort = !isFill && rest.pauseMs === undefined && ['rival', 'other'].includes(subject.group)
      const kept = isShort ? size / 8 : size
      const loop = source && loops[keep](source, kept, subject)
      if (loop === undefined) return undefined
      const batch = { size: isFill ? 65_536 : kept, run: loop.run }
      if (!loops.makesIds(subject)) return { batch }
      // The ids of an array may run ahead of the clock: our ids do here by choice, and ids of rivals always
      // do.
      const ledger = new Ledger(isFill ? undefined : stampOf(subject, wanted))
      const check = () => ledger.add(loop.ids())
      return { batch: { ...batch, check }, report: () => ledger.report(), close: () => source?.close?.() }
    },
  })
}

/** Makes strings from the bigints of a generator of the same engine. */
function stringsOfNext(subject: Subject): Subject {
  return {
    ...subject,
    async load() {
      const open = await subject.load()
      return (wanted) => {
        const source = open(wanted) as Required<Source>
        return { nextString: () => String(source.next()), close: () => source.close() }
      }
    },
  }
}

function arrayFill(size: number): Batch {
  const arrays = Array.from({ length: 65_536 / size }, () => new BigUint64Array(size))
  const run = () => {
    for (const array of arrays) array.fill(0x1a2b_3c4d_5e6f_7081n)
  }
  return { size: 65_536, run }
}

const wanted = (layout: Wanted['layout'], node: number): { wanted: Wanted } => ({ wanted: { layout, node } })
const onEveryNode = true
// Fewer strings than ids, because many live strings would measure the garbage collector.
const size = 16_384

export const compared = {
  ids: [
    // With 4 096 ids a millisecond, `next()` cannot be faster than 244 ns; `wide` has a floor of 15 ns.
    ofEngines({ name: 'next', title: 'next()', ...wanted('wide', 1), onEveryNode }),
    // No sequence has fewer than a thousand ids a millisecond, so this task is the same for all.
    ofEngines({ name: 'burst', title: '1 000 ids after a sleep', ...wanted('twitter', 8), size: 1000, pauseMs: 2 }),
    ofEngines({
      ...{ name: 'next-string', title: 'nextString()', ...wanted('wide', 2), size },
      ...{ keep: 'keepStrings', onEveryNode },
    }),
    ofEngines({ name: 'next-number', title: 'nextNumber()', ...wanted('number', 0), keep: 'keepNumbers' }),
    // An array uses up the ids of a millisecond in a fraction of it. Unbounded, it does not wait for the
    // clock.
    ofEngines({ ...fill(65_536), wanted: { layout: 'wide', node: 4, unbounded: true } }),
    ofEngines({ ...fill(64), ...wanted('roomy', 1) }),
  ],
  kept: [
    // As few as the strings, so that most bigints die young, as in a request or a batch of rows.
    ofBigints({ name: 'next-kept', title: 'next(), kept as bigint', ...wanted('wide', 18), size, onEveryNode }),
    // The garbage collector has to copy and mark the ids that stay alive.
    ofBigints({
      name: 'next-kept-million',
      title: 'next(), a million kept at once',
      ...wanted('wide', 19),
      size: 2 ** 20,
    }),
  ],
  strings: [
    used({ name: 'written', title: 'written to a buffer', node: 3, keep: 'keepWritten' }),
    used({ name: 'key', title: "as a Map's key", node: 16, keep: 'keepAsKeys' }),
    used({ name: 'json', title: 'in JSON.stringify', node: 17, keep: 'keepInJson' }),
  ],
  uuids: [
    ofUuids({ name: 'next', title: 'next(), kept', ...wanted('wide', 20), size, keep: 'keepUuids', onEveryNode }),
    ofUuids({
      name: 'written',
      title: 'next(), written to a buffer',
      ...wanted('wide', 21),
      size,
      keep: 'keepUuidsWritten',
    }),
    ofUuids({
      ...{ name: 'fill', title: 'fill(), 65 536 UUIDs', wanted: { layout: 'wide', node: 22, unbounded: true } },
      keep: 'keepUuidsFilled',
    }),
  ],
  segments: [
    ofSegments({ name: 'next', title: 'next()', ...wanted('wide', 13) }),
    ofSegments({ name: 'next-string', title: 'nextString()', ...wanted('wide', 14), size, keep: 'keepStrings' }),
    ofSegments({ name: 'next-number', title: 'nextNumber()', ...wanted('number', 0), keep: 'keepNumbers' }),
    ofSegments({
      ...{ name: 'fill', title: 'fill(), 65 536 numbers', wanted: { layout: 'wide', node: 15, unbounded: true } },
      keep: 'keepFilled',
    }),
  ],
}

type InSection = Omit<Made, 'section'>

/** Times a use of the engines. Other packages take part. */
function ofEngines(use: InSection): Workload {
  return made({ ...use, section: engines })
}

/** Times a string together with its first use. */
function used({ name, title, node, keep }: Pick<Made, 'name' | 'title' | 'keep'> & { node: number }): Workload {
  const named = { name: `next-string-${name}`, title: `nextString(), ${title}` }
  return made({
    ...named,
    ...wanted('wide', node),
    size,
    ...(keep && { keep }),
    isOfNext: true,
    section: 'Decimal strings in use',
    of: 'graupel',
  })
}

/** Times texts and bytes of 128 bits. Other packages take part. */
function ofUuids({ name, title, wanted, ...rest }: InSection): Workload {
  const named = { name: `uuid-${name}`, title: `${title}, of UUIDs`, wanted: { ...wanted, isUuid: true } }
  return made({ ...named, ...rest, section: 'UUIDs' })
}

/** Times bigints that stay alive. `next` only writes them to a BigUint64Array. */
function ofBigints(kept: InSection): Workload {
  return made({ ...kept, keep: 'keepBigints', section: keptIds, of: 'graupel' })
}

/** Times numbers of segments beside ids of the engines. */
function ofSegments({ name, title, ...rest }: InSection): Workload {
  const named = { name: `segment-${name}`, title: `${title} of segments` }
  return made({ ...named, ...rest, section: 'Segments', of: 'graupel' })
}

function fill(size: number) {
  const title = `fill(), ${count(size)} ids`
  return { name: `fill-${size}`, title, size, keep: 'keepFilled', onEveryNode } as const
}
