import { createRequire } from 'node:module'
import { join } from 'node:path'
import { defineLayout, type Field, type Layout, type layouts } from 'graupel'
import { installOnce } from '../package/consumer.ts'
import { read, repository } from '../support/documents.ts'

// Other packages of npm, as docs/moving-from-npm.md describes them. The bench times the same packages, and
// has their lockfile.

// biome-ignore lint/suspicious/noExplicitAny: the packages have types of many kinds, or none.
type Foreign = any

installOnce('bench/rivals', ['--ignore-scripts'])
const require = createRequire(join(repository, 'bench/rivals/package.json'))
export const load = (name: string): Foreign => require(name)

export interface Parts {
  readonly timestampMs: number
  readonly node: number
  readonly sequence: number
}

type Settings = Readonly<Record<string, number>>

export interface Package {
  /** The settings that give the package a node, by their names. */
  settings(node: number): Settings
  /** A function that makes one id. */
  open(settings: Settings, epochMs: number): () => bigint | Promise<bigint>
  /** Decodes an id by the package itself; absent if the package cannot decode. */
  readonly partsOf?: (id: bigint, epochMs: number) => Partial<Parts>
  /** The largest node that the package takes, if its bits could hold a larger node. */
  readonly lastNode?: number
  /** The smallest node that the package takes. @default 0 */
  readonly firstNode?: number
  /** The sequence numbers of the first ids of a millisecond, if they are not 0, 1, 2. */
  readonly sequences?: readonly number[]
  /** The sequence does not begin again with each millisecond. */
  readonly countsThrough?: true
  /** The package reads a clock that a test cannot set. */
  readonly hasOwnClock?: true
}

const two = (high: string, low: string) => (node: number) => ({ [high]: node >> 5, [low]: node & 31 })
const single = (name: string) => (node: number) => ({ [name]: node })
const one = (high: number | bigint, low: number | bigint) => Number(high) * 32 + Number(low)

export const packages: Readonly<Record<string, Package>> = {
  '@sapphire/snowflake': {
    settings: two('workerId', 'processId'),
    open(settings, epochMs) {
      const made = Object.assign(new (load('@sapphire/snowflake').Snowflake)(epochMs), settings)
      return () => made.generate()
    },
    countsThrough: true,
    partsOf(id, epochMs) {
      const { timestamp, workerId, processId, increment } = new (load('@sapphire/snowflake').Snowflake)(
        epochMs,
      ).deconstruct(id)
      return { timestampMs: Number(timestamp), node: one(workerId, processId), sequence: Number(increment) }
    },
  },
  snowyflake: {
    settings: two('workerId', 'processId'),
    open({ workerId = 0, processId = 0 }, epochMs) {
      const options = { epoch: BigInt(epochMs), workerId: BigInt(workerId), processId: BigInt(processId) }
      const made = new (load('snowyflake').Snowyflake)(options)
      return () => made.nextId()
    },
    partsOf(id, epochMs) {
      const { Snowyflake } = load('snowyflake')
      const { timestamp, workerId, processId, sequence } = Snowyflake.deconstruct(id, { epoch: BigInt(epochMs) })
      return { timestampMs: Number(timestamp), node: one(workerId, processId), sequence: Number(sequence) }
    },
  },
  'snowflake-id': {
    settings: single('mid'),
    open(settings, epochMs) {
      const made = new (load('snowflake-id').default)({ ...settings, offset: epochMs })
      return () => BigInt(made.generate())
    },
    // 0 becomes 1, and 1023 becomes 0.
    firstNode: 1,
    lastNode: 1022,
  },
  flakeid: {
    settings: single('mid'),
    open(settings, epochMs) {
      const made = new (load('flakeid'))({ ...settings, timeOffset: epochMs })
      return () => BigInt(made.gen())
    },
    firstNode: 1,
    lastNode: 1022,
  },
  'flake-idgen': {
    settings: two('datacenter', 'worker'),
    open(settings, epochMs) {
      const made = new (load('flake-idgen'))({ ...settings, epoch: epochMs })
      return () => made.next().readBigUInt64BE()
    },
  },
  'nodejs-snowflake': {
    settings: single('instance_id'),
    open(settings, epochMs) {
      const made = new (load('nodejs-snowflake').Snowflake)({ custom_epoch: epochMs, ...settings })
      return () => made.getUniqueID()
    },
    partsOf(id, epochMs) {
      const { Snowflake } = load('nodejs-snowflake')
      return { timestampMs: Snowflake.timestampFromID(id, epochMs), node: Snowflake.instanceIDFromID(id) }
    },
  },
  'tsid-ts': {
    settings: single('node'),
    open({ node }, epochMs) {
      const made = new (load('tsid-ts').TSIDGenerator)(node, 10, epochMs, () => 0n)
      return () => made.create().number
    },
    partsOf(id, epochMs) {
      const tsid = new (load('tsid-ts').TSID)(id)
      tsid.setEpoch(epochMs)
      return { timestampMs: tsid.timestamp, node: tsid.random >> 12, sequence: tsid.random & 4095 }
    },
  },
  'node-snowflake': {
    settings: two('data_center_id', 'worker_id'),
    open(settings) {
      const { Snowflake } = load('node-snowflake')
      Snowflake.init(settings)
      return () => BigInt(Snowflake.nextId())
    },
    // The package forgets the number that it was given.
    sequences: [0, 1, 1, 1],
  },
  'snowflake-uuid': {
    settings: two('datacenterId', 'workerId'),
    open({ workerId, datacenterId }, epochMs) {
      const made = new (load('snowflake-uuid').Worker)(workerId, datacenterId, { epoch: epochMs })
      return () => made.nextId()
    },
  },
  '@akashrajpurohit/snowflake-id': {
    settings: single('workerId'),
    open(settings, epochMs) {
      const made = load('@akashrajpurohit/snowflake-id').SnowflakeId({ ...settings, epoch: epochMs })
      return () => BigInt(made.generate())
    },
  },
  'snowflake-generator': {
    settings: single('shardID'),
    open({ shardID }, epochMs) {
      const made = new (load('snowflake-generator').Generator)(epochMs, shardID)
      return () => made.generate()
    },
    partsOf(id, epochMs) {
      const { timestamp, shard_id, increment } = new (load('snowflake-generator').Generator)(epochMs).deconstruct(id)
      return { timestampMs: Number(timestamp), node: Number(shard_id), sequence: Number(increment) }
    },
    countsThrough: true,
    // 0 becomes 1.
    firstNode: 1,
  },
  '@theinternetfolks/snowflake': {
    settings: single('shard_id'),
    open(settings) {
      const { Snowflake } = load('@theinternetfolks/snowflake')
      let sequence = 0
      return () => BigInt(Snowflake.generate({ ...settings, sequence: sequence++ }))
    },
    partsOf(id) {
      const { timestamp, shard_id, sequence } = load('@theinternetfolks/snowflake').Snowflake.parse(String(id))
      return { timestampMs: timestamp, node: shard_id, sequence }
    },
    countsThrough: true,
  },
  '@skorotkiewicz/snowflake-id': {
    settings: single('machineId'),
    open({ machineId }) {
      const made = new (load('@skorotkiewicz/snowflake-id').Snowflake)(machineId)
      return async () => BigInt(await made.generate())
    },
    partsOf(id) {
      const { timestamp, machineId, sequence } = load('@skorotkiewicz/snowflake-id').decodeSnowflake(String(id))
      return { timestampMs: Date.parse(timestamp), node: Number(machineId), sequence: Number(sequence) }
    },
  },
  snowflakify: {
    settings: two('worker', 'process'),
    open({ worker = 0, process = 0 }, epochMs) {
      const made = snowflakify(epochMs, worker, process)
      return () => made.nextId()
    },
    partsOf(id, epochMs) {
      const [time, worker, pid, sequence] = snowflakify(epochMs, 1, 1).destructure(id)
      return { timestampMs: Number(time.value), node: one(worker.value, pid.value), sequence: sequence.value }
    },
    // The package replaces a 0 in either field by its own number.
    firstNode: 33,
    hasOwnClock: true,
  },
}

function snowflakify(epochMs: number, worker: number, pid: number): Foreign {
  const parts = load('snowflakify')
  return new parts.default({
    fragmentArray: [
      new parts.TimestampFragment(42, epochMs),
      new parts.WorkerFragment(5, worker),
      new parts.ProcessFragment(5, pid),
      new parts.SequenceFragment(12),
    ],
  })
}

/** A row of the table of layouts in docs/moving-from-npm.md. */
export interface Row {
  readonly name: string
  /** The default epoch, if it is a number. */
  readonly epochMs: number | undefined
  /** The default node by its fields, if it is the same in every process. */
  readonly numbers: readonly number[]
  /** The node of graupel, as a formula over the settings of the package. */
  readonly formula: string
  /** The name in `layouts`. */
  readonly preset: keyof typeof layouts | undefined
  readonly layout: Layout
}

/** Reads the layouts from the document. */
export function rows(): Row[] {
  const found = [
    ...read('docs/moving-from-npm.md').matchAll(
      /^\| .*?`(.+?)`.*? \| ([^|]+) \| (timestamp [^|]+) \| ([^|]+) \| `([^`]+)`[^|]* \| (.+) \|$/gm,
    ),
  ]
  return found.map(([, name = '', epoch = '', bits = '', preset = '', formula = '', number = '']) => {
    const epochMs = /^\d+$/.test(epoch) ? Number(epoch) : undefined
    const fields = bits.split(', ').map((field): Field => {
      const [part = '', width] = field.split(' ')
      return [part, Number(width)]
    })
    return {
      name,
      epochMs,
      formula,
      numbers: [...number.replaceAll(/`.*?`/g, '').matchAll(/\d+/g)].map(Number),
      preset: /^`layouts\.(\w+)`/.exec(preset)?.[1] as Row['preset'],
      layout: layoutOf(fields, epochMs ?? Date.UTC(2020, 0, 1)),
    }
  })
}

function layoutOf(fields: readonly Field[], epochMs: number): Layout {
  const unsigned = fields.reduce((sum, [, bits]) => sum + bits, 0) === 64
  return defineLayout({ name: 'old', epochMs, tickMs: 1, fields, unsigned })
}
