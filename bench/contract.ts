/** What the parts of the bench agree on: a subject makes ids, a workload uses it, a result is what one pair of them gave. */

// biome-ignore lint/suspicious/noExplicitAny: the rivals' modules have no types that are of use here
export type Foreign = any

export interface Wanted {
  /** `wide` has 65 536 ids a millisecond, `twitter` 4 096, `roomy` 1 048 576; `number` fits a number. Rivals have their own. */
  layout: 'wide' | 'twitter' | 'roomy' | 'number'
  /** Differs between workloads, so that none starts behind the ids of another. */
  node: number
  namespace?: string
  /** One of thousands of generators: none takes a page of the host. */
  isMany?: boolean
  /** The ids may be stamped ahead of the clock without limit. */
  unbounded?: boolean
}

/** Makes ids. The timed loop calls these methods on this object. */
export interface Source {
  next?(): Foreign
  nextString?(): string
  nextNumber?(): number
  fill?(array: BigUint64Array): unknown
  fillAsync?(array: BigUint64Array): Promise<unknown>
  close?(): void
  /** What a source of another thread needs to take from the same. */
  readonly handle?: Foreign
}

export interface Codecs {
  /** In base 62. */
  encode?(id: bigint): string
  decode?(id: bigint): Foreign
  /** The milliseconds since 1970 of an id, without the rest. */
  timestampMsOf?(id: bigint): number
  /** By a mask of 63 bits. */
  hide?(id: bigint): bigint
  reveal?(hidden: bigint): bigint
  /** The milliseconds of what `decode` returned; not timed. */
  timeOf?(fields: Foreign): number | bigint
}

/** How the time is read from an id: milliseconds since the epoch, above `shift` bits, with `perMs` ids in each. */
export type Stamp = { epochMs: number; shift: number; perMs: number }

export interface Subject {
  name: string
  title: string
  /** What `other` makes is no id of 64 bits, and is not checked. A `store` is where nodes are leased, a `service` what is started or asked. */
  group: 'graupel' | 'yardstick' | 'rival' | 'other' | 'store' | 'service'
  url?(): string
  /** `next` returns promises. */
  isAsync?: boolean
  /** From what `next` returns; `BigInt` by default. */
  toId?(made: Foreign): bigint
  codecs?(): Promise<Codecs>
  /** The layout of a rival; `undefined` where ids have no time. */
  stamp?: Stamp | undefined
  /** The workloads that it takes part in; all by default. */
  only?: readonly string[]
  /** The folder whose build is measured; this one by default. */
  build?: string
  /** The function returns `undefined` where the subject cannot make what is wanted. `handle` is that of another thread's source. */
  load(handle?: Foreign): Promise<(wanted: Wanted) => Source | undefined>
}

export interface RunOptions {
  isQuick: boolean
  /** Takes the place of the yardstick: the same subject of another build. Only for a workload that `isCompared`. */
  against?: Subject
}

export interface Workload {
  name: string
  title: string
  /** The figure's unit. */
  unit: string
  /** What the ratio is a multiple of. */
  yardstick?: string
  isHigherBetter?: boolean
  /** The yardstick is timed in turns with the subject, so another build can be its yardstick. */
  isCompared?: boolean
  /** It also runs on the other versions of Node. */
  onEveryNode?: boolean
  /** The one group that takes part; without it all but stores and services do. */
  of?: Subject['group']
  /** The heading that it stands under on the page, which a run of its own can renew. */
  section?: string
  /** What is not there and it needs. */
  missing?(): string | undefined
  /** Resolves to `undefined` where the subject does not offer what the workload asks for. */
  run(subject: Subject, options: RunOptions): Promise<Outcome | undefined>
}

/** Quartiles over the rounds. */
export type Spread = { low: number; median: number; high: number }

export interface Outcome {
  figure: Spread
  ratio?: Spread
  /** In the unit of the figure. */
  yardstick?: Spread
  check?: Check
  /** Rounds that do not count, because the yardstick was slow in them. */
  disturbed?: number
  note?: string
  /** For the chart of ids against threads. */
  line?: readonly { threads: number; idsPerMs: number }[]
}

/** What was wrong with the timed ids. */
export interface Check {
  ids: number
  repeats: number
  /** Ids that are not above the one before. */
  outOfOrder: number
  /** Ids that bear a later time than the one at which they were made. */
  future: number
  /** Results of a codec that are not what they should be. */
  wrong?: number
}

export interface Result {
  subject: string
  workload: string
  /** The version of Node. */
  node: string
  outcome?: Outcome
  error?: string
}

/** What is in a JSON file. */
export interface Report {
  machine: Machine
  command: string
  quick: boolean
  results: Result[]
  steps?: Steps
  /** The folder of the other build, where the ratios are to that. */
  against?: string
  /** The runs of sections that were measured by themselves (`--publish`). */
  sections?: Record<string, Pick<Report, 'machine' | 'command'>>
}

/**
 * `engine` is the native engine's file, or why there is none; `load` that of the minute before; `stolen` the share of the
 * wanted processor time that a hypervisor gave to others during the run.
 */
export type Machine = Record<'cpu' | 'os' | 'node' | 'v8' | 'commit' | 'engine' | 'load', string> & { stolen?: string }

/** The native core without Node (bench/native). */
export type Steps = { step: string; threads: number; ns: Spread }[]
