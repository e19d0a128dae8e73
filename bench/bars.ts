import type { Check, Report, Result, Subject, Workload } from './contract.ts'

/** `lead` says how many times faster than another subject the subject is, by their ratios. */
export interface Bar {
  of: 'ratio' | 'figure' | 'lead'
  /** The other subject of a `lead`; by default, the fastest rival. */
  than?: string
  max?: number
  min?: number
}

/** The limits of the project by workload and subject. `--check` fails if a limit does not hold. */
const bars: Record<string, Record<string, readonly Bar[]>> = {
  next: {
    'graupel-native': [
      { of: 'ratio', max: 0.6 },
      { of: 'lead', min: 2.5 },
    ],
    'graupel-js': [{ of: 'ratio', max: 1.4 }],
  },
  'next-kept': { 'graupel-native': [{ of: 'ratio', max: 0.75 }] },
  'next-string': { 'graupel-native': [{ of: 'ratio', max: 1.6 }] },
  'next-string-written': bothEngines({ of: 'ratio', max: 0.9 }),
  'next-string-key': bothEngines({ of: 'ratio', max: 0.9 }),
  'next-string-json': bothEngines({ of: 'ratio', max: 0.95 }),
  'fill-65536': {
    'graupel-native': [
      { of: 'figure', max: 0.6 },
      { of: 'ratio', max: 4 },
    ],
    'graupel-js': [{ of: 'figure', max: 2 }],
  },
  // Reading the id takes 13 ns of it.
  observe: { 'graupel-native': [{ of: 'figure', max: 28 }], 'graupel-js': [{ of: 'figure', max: 73 }] },
  'kind-text': { 'graupel-native': [{ of: 'figure', max: 100 }] },
  'kind-id': { 'graupel-native': [{ of: 'figure', max: 100 }] },
  'kind-opaque-text': { 'graupel-native': [{ of: 'figure', max: 1500 }] },
  'kind-opaque-id': { 'graupel-native': [{ of: 'figure', max: 1500 }] },
  'mask-hide': { 'graupel-native': [{ of: 'ratio', max: 250 }] },
  'mask-reveal': { 'graupel-native': [{ of: 'ratio', max: 250 }] },
  'uuid-next': {
    'graupel-native': [
      { of: 'ratio', max: 2.5 },
      { of: 'lead', than: 'uuid v7', min: 8 },
      { of: 'lead', than: 'uuidv7 v7', min: 4 },
    ],
  },
  'uuid-written': {
    'graupel-native': [
      { of: 'ratio', max: 4 },
      { of: 'lead', than: 'random-uuid', min: 1 },
    ],
  },
  'uuid-fill': { 'graupel-native': [{ of: 'figure', max: 8 }] },
  'sustained-next': bothEngines({ of: 'figure', min: 99.9 }),
  // One thread may come near all that the wide layout allows in a millisecond.
  'threads-roomy': bothEngines({ of: 'figure', min: 1.5 }),
  import: bothEngines({ of: 'ratio', max: 4 }),
  // The js engine writes and locks the file of a claim.
  'first-id': { 'graupel-native': [{ of: 'ratio', max: 5 }], 'graupel-js': [{ of: 'ratio', max: 8 }] },
  'memory-one-node': bothEngines({ of: 'figure', max: 1024 }),
  // The least that can leak is a pointer of 8 bytes. The resident set moves by some MiB.
  'leak-closed': bothEngines({ of: 'figure', max: 7 }),
  'leak-dropped': bothEngines({ of: 'figure', max: 7 }),
  'view-next': bothEngines({ of: 'ratio', max: 1.03 }),
  'lease-next': bothEngines({ of: 'ratio', max: 1.03 }),
  'lease-start': bothStores({ of: 'figure', max: 2000 }, { of: 'ratio', max: 4 }),
  // A write in a third of the window is 500 a second. The count may have a round more at its ends.
  'lease-thousand': bothStores({ of: 'figure', max: 505 }, { of: 'ratio', max: 1 }),
  'segment-next': { 'graupel-segments': [{ of: 'ratio', max: 0.4 }] },
  'segment-next-number': { 'graupel-segments': [{ of: 'ratio', max: 0.1 }] },
  'segment-fill': { 'graupel-segments': [{ of: 'ratio', max: 4 }] },
  'segment-threads': { 'graupel-segments': [{ of: 'figure', min: 1.8 }] },
  'segment-steady': bothStores({ of: 'figure', max: 1 }),
  'service-one': { 'graupel-server': [{ of: 'ratio', min: 0.8 }] },
  'service-one-tls': { 'graupel-server': [{ of: 'ratio', min: 0.8 }] },
  'service-bytes': { 'graupel-server': [{ of: 'figure', min: 20 }] },
  'service-client': { 'graupel-client': [{ of: 'figure', min: 10 }] },
  'service-resp': {
    'graupel-server': [
      { of: 'figure', min: 400_000 },
      { of: 'ratio', min: 0.5 },
    ],
  },
  'service-resp-numbers': { 'graupel-server': [{ of: 'ratio', min: 0.5 }] },
  // Each command is a read and a write of its connection, and a batch of its own.
  'service-resp-one': { 'graupel-server': [{ of: 'ratio', min: 0.35 }] },
  'service-client-runs': { 'graupel-client': [{ of: 'figure', min: 1000 }] },
  // As next() of segments, which takes 0.15, and with a request now and then.
  'service-client-next': { 'graupel-client': [{ of: 'ratio', max: 0.2 }] },
  // One forgotten pointer is 8 bytes; the resident set moves by some MiB, on Node 24 by more than one byte.
  'service-memory': { 'graupel-server': [{ of: 'figure', max: 4 }] },
  'latency-next': withSegments({ of: 'ratio', max: 2 }),
  // The js engine allocates more, and waits for the garbage collector.
  'latency-async': { ...withSegments({ of: 'ratio', max: 3 }), 'graupel-js': [{ of: 'ratio', max: 8 }] },
  'latency-client': { 'graupel-client': [{ of: 'ratio', max: 3 }] },
  'latency-http': { 'graupel-server': [{ of: 'ratio', max: 4 }] },
  'latency-http-batch': { 'graupel-server': [{ of: 'ratio', max: 4 }] },
  'latency-resp': { 'graupel-server': [{ of: 'ratio', max: 4 }] },
  'latency-resp-batch': { 'graupel-server': [{ of: 'ratio', max: 4 }] },
}

/** The share by which a change may be slower than the build that it runs against. */
const maxCost = 0.03

function bothEngines(bar: Bar) {
  return { 'graupel-native': [bar], 'graupel-js': [bar] }
}

function withSegments(bar: Bar) {
  return { ...bothEngines(bar), 'graupel-segments': [bar] }
}

function bothStores(...held: Bar[]) {
  return { 'redis-ioredis': held, 'postgres-pg': held }
}

/** Returns the bars of a workload by subject. */
export function barsOf({ name }: Workload): Readonly<Record<string, readonly Bar[]>> {
  return bars[name] ?? {}
}

/** Returns whether a bar of the workload compares with a subject. */
export function isCompared(workload: Workload, { name, group }: Subject) {
  const leads = Object.values(barsOf(workload)).flatMap((all) => all.filter(({ of }) => of === 'lead'))
  return leads.some(({ than }) => (than === undefined ? group === 'rival' : than === name))
}

/** Returns each bar of a result with the measured value, which is undefined if it was not measured. */
export function judge(result: Result, workload: Workload, report: Report, rivals: readonly string[]) {
  const cost: Bar = workload.isHigherBetter ? { of: 'ratio', min: 1 - maxCost } : { of: 'ratio', max: 1 + maxCost }
  const held = report.against === undefined ? (barsOf(workload)[result.subject] ?? []) : [cost]
  return held.map((bar) => {
    const others = bar.than === undefined ? rivals : [bar.than]
    const value = bar.of === 'lead' ? leadOf(result, report.results, others) : result.outcome?.[bar.of]?.median
    const { max = Number.POSITIVE_INFINITY, min = Number.NEGATIVE_INFINITY } = bar
    return { bar, value, holds: value !== undefined && value <= max && value >= min }
  })
}

/** Compares the ratios, because subjects run in different processes at different times. */
function leadOf(result: Result, results: readonly Result[], rivals: readonly string[]) {
  const ratios = results
    .filter(({ workload, node }) => workload === result.workload && node === result.node)
    .flatMap(({ subject, outcome }) => (rivals.includes(subject) && outcome?.ratio ? [outcome.ratio.median] : []))
  const own = result.outcome?.ratio?.median
  return own === undefined || ratios.length === 0 ? undefined : Math.min(...ratios) / own
}

/** Returns the faults that a check found, in words. */
export function faultsOf(check: Check | undefined) {
  if (check === undefined) return []
  const { repeats, outOfOrder, future, wrong = 0 } = check
  const found = { repeats, 'out of order': outOfOrder, 'of the future': future, wrong }
  return Object.entries(found).flatMap(([what, number]) => (number > 0 ? [`${count(number)} ${what}`] : []))
}

/** Returns a line for each of our subjects that could not be measured, or whose ids have faults. */
export function failures(results: readonly Result[], own: readonly string[]) {
  return results.flatMap(({ subject, workload, node, outcome, error }) => {
    const faults = error === undefined ? faultsOf(outcome?.check) : [error.split('\n')[0]]
    return faults.length > 0 && own.includes(subject)
      ? [`${workload}, ${subject}, Node ${node}: ${faults.join(', ')}`]
      : []
  })
}

/** Returns a line for each bar that does not hold, or that was not measured. */
export function shortfalls(report: Report, workloads: readonly Workload[], rivals: readonly string[]) {
  return workloads.flatMap((workload) => {
    const measured = report.results.filter((result) => result.workload === workload.name)
    const missing = Object.entries(report.against === undefined ? barsOf(workload) : {}).flatMap(([subject, all]) =>
      measured.some((result) => result.subject === subject)
        ? []
        : all.map((bar) => `${workload.name}, ${subject}: ${barText(bar, workload, report)}, not measured`),
    )
    const short = measured.flatMap((result) =>
      judge(result, workload, report, rivals).flatMap(({ bar, value, holds }) => {
        const found = value === undefined ? 'not measured' : `is ${digits(value)}`
        const where = `${workload.name}, ${result.subject}, Node ${result.node}`
        return holds ? [] : [`${where}: ${barText(bar, workload, report)}, ${found}`]
      }),
    )
    return [...missing, ...short]
  })
}

/** Names the unit of a run's ratios. */
export function yardstickOf({ yardstick }: Workload, { against }: Report) {
  return against === undefined ? yardstick : 'the other build'
}

export function barText({ of, than = 'any rival', max, min }: Bar, workload: Workload, report: Report) {
  const ratio = `× ${yardstickOf(workload, report)}`
  const what = of === 'ratio' ? ratio : of === 'lead' ? `× faster than ${than}` : workload.unit
  return max !== undefined ? `≤ ${max} ${what}` : `≥ ${min} ${what}`
}

/** Writes a whole number with spaces between the thousands. */
export function count(value: number) {
  return value.toLocaleString('en').replaceAll(',', ' ')
}

export function digits(value: number) {
  const size = Math.abs(value)
  return size >= 10_000 ? count(Math.round(value)) : value.toFixed(size >= 1000 ? 0 : size >= 10 ? 1 : 2)
}
