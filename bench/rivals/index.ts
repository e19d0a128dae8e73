import type { Codecs, Foreign, Source, Stamp, Subject, Wanted } from '../contract.ts'

// The other packages of npm, used as their documentation says. If a package takes a node, it is 1; if it
// takes an epoch, the epoch is the same for all. This folder has a package.json of its own, which `--rivals`
// installs.

const epochMs = Date.UTC(2020, 0, 1)
const epoch = BigInt(epochMs)

interface Rival {
  open(exports: Foreign, wanted: Wanted): Source | undefined
  toId?(made: Foreign): bigint
  isAsync?: boolean
  codecs?(exports: Foreign): Codecs
  /** The layout, if it differs from Twitter's layout with the epoch above. */
  stamp?: Partial<Stamp>
}

/** A package that makes 64-bit ids of time, node and sequence. */
function snowflake(module: string, { open, stamp, codecs, ...rest }: Rival): Subject {
  const load = async () => {
    const exports: Foreign = await import(module)
    return exports.default?.__esModule ? exports.default : exports
  }
  return {
    name: module,
    title: module,
    group: 'rival',
    url: () => import.meta.resolve(module),
    stamp: { epochMs, shift: 22, perMs: 4096, ...stamp },
    ...rest,
    // Most packages decode into an object with a timestamp.
    ...(codecs && { codecs: async () => ({ timeOf: ({ timestamp }) => timestamp, ...codecs(await load()) }) }),
    async load() {
      const exports = await load()
      return (wanted) => open(exports, wanted)
    },
  }
}

/** A package whose ids are used instead of Snowflake ids. Their random bits are not checked. */
function other(module: string, title: string, open: (exports: Foreign) => () => string): Subject {
  return {
    name: `${module} ${title}`,
    title: `${module} ${title}`,
    group: 'other',
    url: () => import.meta.resolve(module),
    only: ['next', 'uuid-next', 'uuid-written', 'import'],
    load: async () => {
      const next = open(await import(module))
      return () => ({ next, nextUuid: next })
    },
  }
}

/** Twitter's ten bits as its two fields of five. */
const two = (node: number) => ({ high: node >> 5, low: node & 31 })

/** Adds strings to a package that only makes bigints. */
function bigints(made: Foreign, method: string): Source {
  return { next: () => made[method](), nextString: () => made[method]().toString() }
}

/** Uses the decimal strings of a package. */
function strings(made: Foreign, method: string): Source {
  return { next: () => made[method](), nextString: () => made[method]() }
}

function decoder(made: Foreign, method: string): Codecs {
  return { decode: (id) => made[method](id) }
}

const snowflakes = [
  snowflake('snowyflake', {
    open: ({ Snowyflake }, { node }) => {
      const { high, low } = two(node)
      const made = new Snowyflake({ epoch, workerId: BigInt(high), processId: BigInt(low) })
      return bigints(made, 'nextId')
    },
    codecs: ({ Snowyflake }) => ({ decode: (id) => Snowyflake.deconstruct(id, { epoch }) }),
  }),
  snowflake('@sapphire/snowflake', {
    open: ({ Snowflake }, { node }) => {
      const made = new Snowflake(epoch)
      made.workerId = two(node).high
      made.processId = two(node).low
      return bigints(made, 'generate')
    },
    codecs: ({ Snowflake }) => decoder(new Snowflake(epoch), 'deconstruct'),
  }),
  snowflake('snowflake-generator', {
    stamp: { shift: 23, perMs: 1024 },
    open: ({ Generator }, { node }) => {
      const made = new Generator(epochMs, node)
      return {
        ...bigints(made, 'generate'),
        fill: (array) => {
          // The package returns an array of its own, which a caller would use directly.
          if (array.length === 1) array[0] = made.generate()
          else array.set(made.generate(array.length))
        },
      }
    },
    codecs: ({ Generator }) => decoder(new Generator(epochMs, 1), 'deconstruct'),
  }),
  snowflake('tsid-ts', {
    toId: (tsid) => tsid.number,
    open: ({ TSIDGenerator }, { node }) => {
      const made = new TSIDGenerator(node, 10, epochMs)
      return { next: () => made.create(), nextString: () => made.create().number.toString() }
    },
    codecs: ({ TSID }) => ({ encode: (id) => new TSID(id).toBase62String() }),
  }),
  snowflake('flake-idgen', {
    toId: (buffer) => buffer.readBigUInt64BE(),
    open: ({ default: FlakeId }, { node }) => {
      const made = new FlakeId({ id: node, epoch: epochMs })
      // The package throws if the millisecond is used up, and the caller has to try again.
      const next = () => {
        for (;;) {
          try {
            return made.next()
          } catch {}
        }
      }
      return { next, nextString: () => next().readBigUInt64BE().toString() }
    },
  }),
  snowflake('snowflake-uuid', {
    open: ({ Worker }, { node }) => bigints(new Worker(two(node).low, two(node).high, { epoch: epochMs }), 'nextId'),
  }),
  snowflake('snowflakify', {
    open: ({ default: Snowflakify }) => {
      // The package makes its node of the ids of process and thread.
      const made = new Snowflakify({ epoch: epochMs })
      return bigints(made, 'nextId')
    },
    codecs: ({ default: Snowflakify }) => {
      const made = new Snowflakify({ epoch: epochMs })
      return { decode: (id) => made.destructure(id), timeOf: ([{ value }]) => value }
    },
  }),
  snowflake('@theinternetfolks/snowflake', {
    stamp: { epochMs: 0 },
    open: ({ Snowflake }, { node, isMany }) => {
      if (isMany) return undefined
      Snowflake.SHARD_ID = node
      return strings(Snowflake, 'generate')
    },
    codecs: ({ Snowflake }) => ({ decode: (id) => Snowflake.parse(String(id)) }),
  }),
  snowflake('@akashrajpurohit/snowflake-id', {
    open: ({ SnowflakeId }, { node }) => strings(SnowflakeId({ workerId: node, epoch: epochMs }), 'generate'),
  }),
  snowflake('@skorotkiewicz/snowflake-id', {
    stamp: { epochMs: 0 },
    isAsync: true,
    open: ({ Snowflake }, { node }) => {
      const made = new Snowflake(node)
      return { next: () => made.generate() }
    },
    codecs: ({ decodeSnowflake }) => ({
      decode: (id) => decodeSnowflake(String(id)),
      timeOf: ({ timestamp }) => Date.parse(timestamp),
    }),
  }),
  snowflake('nodejs-snowflake', {
    stamp: { perMs: 1024 },
    open: ({ Snowflake }, { node }) =>
      bigints(new Snowflake({ custom_epoch: epochMs, instance_id: node }), 'getUniqueID'),
    codecs: ({ Snowflake }) => ({
      decode: (id) => ({ ms: Snowflake.timestampFromID(id, epochMs), instance: Snowflake.instanceIDFromID(id) }),
      timeOf: ({ ms }) => ms,
    }),
  }),
  snowflake('node-snowflake', {
    stamp: { epochMs: 1288834974657 },
    open: ({ Snowflake }, { node, isMany }) => {
      if (isMany) return undefined
      Snowflake.init({ worker_id: two(node).low, data_center_id: two(node).high })
      return strings(Snowflake, 'nextId')
    },
  }),
  snowflake('snowflake-id', {
    open: ({ default: Snowflake }, { node }) => strings(new Snowflake({ mid: node, offset: epochMs }), 'generate'),
  }),
  snowflake('flakeid', {
    open: ({ default: FlakeId }, { node }) => strings(new FlakeId({ mid: node, timeOffset: epochMs }), 'gen'),
  }),
]

const others = [
  other('@napi-rs/uuid', 'v4', ({ v4 }) => v4),
  other('nanoid', '21 characters', ({ nanoid }) => nanoid),
  other('uuidv7', 'v7', ({ uuidv7 }) => uuidv7),
  other('uuid', 'v7', ({ v7 }) => v7),
  other('typeid-js', 'ord', ({ typeid }) => {
    return () => typeid('ord').toString()
  }),
  other('ulid', 'monotonic', ({ monotonicFactory }) => monotonicFactory()),
]

export const rivals = [...snowflakes, ...others]
