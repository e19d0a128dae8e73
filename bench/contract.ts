/**
 * The types that the parts of the bench share. A subject makes ids, a workload times them, and each such pair
 * has a result.
 */

// biome-ignore lint/suspicious/noExplicitAny: the rivals' modules have no types that are of use here
export type Foreign = any

export interface Wanted {
  /**
   * `wide` has 65 536 ids a millisecond, `twitter` 4 096, `roomy` 1 048 576; `number` fits a number. Rivals
   * have their own.
   */
  layout: 'wide' | 'twitter' | 'roomy' | 'number'
  /**
   * Differs between workloads, so that no workload waits for the ids of another workload to be in the past.
   */
  node: number
  namespace?: string
  /** The workload makes thousands of generators, and none of them takes a page of the host. */
  isMany?: boolean
  /** Ids in the form of UUIDs. */
  isUuid?: boolean
  /** Ids may be ahead of the clock without limit. */
  unbounded?: boolean
}

/** Makes ids. The timed loop calls these methods on this object. */
export interface Source {
  next?(): Foreign
  nextString?(): string
  nextNumber?(): number
  nextAsync?(): Promise<Foreign>
  fill?(array: BigUint64Array): unknown
  fillAsync?(array: BigUint64Array): Promise<unknown>
  /** Makes a text of 128 bits. */
  nextUuid?(): string
  /** Fills an array with UUIDs of 16 bytes. */
  fillUuids?(array: Uint8Array): unknown
  /** Returns the id of a UUID; not timed. */
  idOfUuid?(uuid: string | Uint8Array): bigint
  close?(): void
  /** Lets a source of another thread take numbers from the same origin. */
  readonly handle?: Foreign
}

export interface Codecs {
  /** Writes an id in base 62. */
  encode?(id: bigint): string
  decode?(id: bigint): Foreign
  /** Returns only the time of an id, in milliseconds since 1970. */
  timestampMsOf?(id: bigint): number
  /** A generator of another node, which observes ids. */
  observer?: { observe(id: bigint): bigint; next(): bigint }
  /** Kinds by their names: `typed` and `opaque`. */
  kinds?: Record<string, { text(id: bigint): string; id(text: string): bigint }>
  /** Hides an id by a mask of 64 bits. */
  hide?(id: bigint): bigint
  reveal?(hidden: bigint): bigint
  /** Returns the milliseconds in a result of `decode`; not timed. */
  timeOf?(fields: Foreign): number | bigint
}

/**
 * The time in an id: milliseconds since the epoch, above `shift` bits, with `perMs` ids in each millisecond.
 */
export type Stamp = { epochMs: number; shift: number; perMs: number }

export interface Subject {
  name: string
  title: string
  /**
   * Subjects of the group `other` make no 64-bit ids, so their ids are not checked. Nodes are leased from a
   * `store`, and a `service` is called.
   */
  group: 'graupel' | 'yardstick' | 'rival' | 'other' | 'store' | 'service'
  url?(): string
  /** `next` returns promises. */
  isAsync?: boolean
  /** Converts a result of `next` to a bigint; `BigInt` by default. */
  toId?(made: Foreign): bigint
  codecs?(): Promise<Codecs>
  /** The layout of a rival; `undefined` if its ids have no time. */
  stamp?: Stamp | undefined
  /** The workloads that the subject takes part in; all by default. */
  only?: readonly string[]
  /** The folder of the measured build; this repository by default. */
  build?: string
  /**
   * Loads the subject. The returned function returns `undefined` if the subject cannot make such ids.
   *
   * @param handle - The handle of another thread's source.
   */
  load(handle?: Foreign): Promise<(wanted: Wanted) => Source | undefined>
}

export interface RunOptions {
  isQuick: boolean
  /**
   * The same subject of another build, which replaces the yardstick. Only for a workload that `isCompared`.
   */
  against?: Subject
}

export interface Workload {
  name: string
  title: string
  /** The unit of the figure. */
  unit: string
  /** The unit of the ratio. */
  yardstick?: string
  isHigherBetter?: boolean
  /** The yardstick is timed in turns with the subject, so another build can be its yardstick. */
  isCompared?: boolean
  /** The workload also runs on the versions of Node that `--nodes` names after the first. */
  onEveryNode?: boolean
  /** The only group that takes part. By default, all groups but stores and services do. */
  of?: Subject['group']
  /** The heading of the workload in the results. `--publish` renews whole sections. */
  section: string
  /** Names a program that the workload needs and the machine lacks. */
  missing?(): string | undefined
  /** Measures a subject. Resolves to `undefined` if the subject lacks a call that the workload needs. */
  run(subject: Subject, options: RunOptions): Promise<Outcome | undefined>
}

/** Quartiles over the rounds. */
export type Spread = { low: number; median: number; high: number }

export interface Outcome {
  figure: Spread
  ratio?: Spread
  /** The time of the yardstick, in the unit of the figure. */
  yardstick?: Spread
  check?: Check
  /** The number of rounds that do not count, because the yardstick was slow in them. */
  disturbed?: number
  note?: string
  /** For the chart of ids against threads. */
  line?: readonly { threads: number; idsPerMs: number }[]
}

/** The faults of the timed ids. */
export interface Check {
  ids: number
  repeats: number
  /** Ids that are not above the id before. */
  outOfOrder: number
  /** Ids whose time is later than the moment at which they were made. */
  future: number
  /** Wrong results of a codec. */
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

/** The contents of a JSON file of results. */
export interface Report {
  machine: Machine
  command: string
  quick: boolean
  results: Result[]
  steps?: Steps
  /** The folder of the other build, if the ratios are to that build. */
  against?: string
  /** The later run that renewed a section (`--publish`), by its heading. */
  sections?: Record<string, Pick<Report, 'machine' | 'command'>>
}

/**
 * `engine` is the file of the native engine, or the reason why there is no such file. `load` is the load
 * average of the minute before the run. `stolen` is the share of processor time that the hypervisor gave to
 * other machines during the run.
 */
export type Machine = Record<'cpu' | 'os' | 'node' | 'v8' | 'commit' | 'engine' | 'load', string> & { stolen?: string }

/** The native core without Node (bench/native). */
export type Steps = { step: string; threads: number; ns: Spread }[]
