/** @import { Codecs, Source, Stamp, Subject, Wanted } from '../contract.js' */

// What else npm offers, each made as its own documentation says, with node 1 where it takes one and, where it takes an
// epoch, one that is the same for all. This folder has a package.json of its own (`npm run bench -- --rivals` installs
// it), and lies here because a module is looked up from the file that imports it.

const epochMs = Date.UTC(2020, 0, 1)
const epoch = BigInt(epochMs)

/**
 * A package that makes 64-bit ids of time, node and sequence.
 *
 * @param {string} module - As it is imported.
 * @param {object} rival
 * @param {(exports: any, wanted: Wanted) => Source | undefined} rival.open
 * @param {(native: any) => bigint} [rival.toId] - From what `next` returns; as it is, if not given.
 * @param {boolean} [rival.isAsync]
 * @param {(exports: any) => Codecs} [rival.codecs]
 * @param {Partial<Stamp>} [rival.stamp] - Where it is not as Twitter's with the epoch above.
 * @returns {Subject}
 */
function snowflake(module, { open, stamp, codecs, ...rest }) {
  const load = async () => {
    const exports = await import(module)
    return exports.default?.__esModule ? exports.default : exports
  }
  return {
    name: module,
    title: module,
    group: 'rival',
    url: () => import.meta.resolve(module),
    stamp: { epochMs, shift: 22, perMs: 4096, ...stamp },
    ...rest,
    ...(codecs === undefined ? {} : { codecs: async () => codecs(await load()) }),
    async load() {
      const exports = await load()
      return (wanted) => open(exports, wanted)
    },
  }
}

/**
 * What is used in place of Snowflake ids: 122 random bits and the like, which are not looked at.
 *
 * @param {string} module
 * @param {string} title
 * @param {(exports: any) => () => string} open
 * @returns {Subject}
 */
function other(module, title, open) {
  return {
    name: `${module} ${title}`,
    title: `${module} ${title}`,
    group: 'other',
    url: () => import.meta.resolve(module),
    only: ['next', 'import'],
    load: async () => {
      const next = open(await import(module))
      return () => ({ next })
    },
  }
}

/** Twitter's ten bits as its two fields of five. @param {number} node */
const two = (node) => ({ high: node >> 5, low: node & 31 })

/** For those that make bigints, but have no strings. @param {() => bigint} next @returns {Source} */
const bigints = (next) => ({ next, nextString: () => next().toString() })
/** For those that make decimal strings. @param {() => string} next @returns {Source} */
const strings = (next) => ({ next, nextString: next })

const snowflakes = [
  snowflake('snowyflake', {
    open: ({ Snowyflake }, { node }) => {
      const { high, low } = two(node)
      const made = new Snowyflake({ epoch, workerId: BigInt(high), processId: BigInt(low) })
      return bigints(() => made.nextId())
    },
    codecs: ({ Snowyflake }) => ({
      decode: (id) => Snowyflake.deconstruct(id, { epoch }),
      timeOf: ({ timestamp }) => timestamp,
    }),
  }),
  snowflake('@sapphire/snowflake', {
    open: ({ Snowflake }, { node }) => {
      const made = new Snowflake(epoch)
      made.workerId = two(node).high
      made.processId = two(node).low
      return bigints(() => made.generate())
    },
    codecs: ({ Snowflake }) => {
      const made = new Snowflake(epoch)
      return { decode: (id) => made.deconstruct(id), timeOf: ({ timestamp }) => timestamp }
    },
  }),
  snowflake('snowflake-generator', {
    stamp: { shift: 23, perMs: 1024 },
    open: ({ Generator }, { node }) => {
      const made = new Generator(epochMs, node)
      return {
        ...bigints(() => made.generate()),
        fill: (array) => {
          // It returns an array of its own, which the caller would use as it is.
          if (array.length === 1) array[0] = made.generate()
          else array.set(made.generate(array.length))
        },
      }
    },
    codecs: ({ Generator }) => {
      const made = new Generator(epochMs, 1)
      return { decode: (id) => made.deconstruct(id), timeOf: ({ timestamp }) => timestamp }
    },
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
    toId: (buffer) => /** @type {Buffer} */ (buffer).readBigUInt64BE(),
    open: ({ default: FlakeId }, { node }) => {
      const made = new FlakeId({ id: node, epoch: epochMs })
      // Throws where the millisecond is used up, and leaves it to the caller to try again.
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
    open: ({ Worker }, { node }) => {
      const made = new Worker(two(node).low, two(node).high, { epoch: epochMs })
      return bigints(() => made.nextId())
    },
  }),
  snowflake('snowflakify', {
    open: ({ default: Snowflakify }) => {
      // Its node is made of the ids of process and thread.
      const made = new Snowflakify({ epoch: epochMs })
      return bigints(() => made.nextId())
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
      return strings(() => Snowflake.generate())
    },
    codecs: ({ Snowflake }) => ({
      decode: (id) => Snowflake.parse(String(id)),
      timeOf: ({ timestamp }) => timestamp,
    }),
  }),
  snowflake('@akashrajpurohit/snowflake-id', {
    open: ({ SnowflakeId }, { node }) => {
      const made = SnowflakeId({ workerId: node, epoch: epochMs })
      return strings(() => made.generate())
    },
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
    open: ({ Snowflake }, { node }) => {
      const made = new Snowflake({ custom_epoch: epochMs, instance_id: node })
      return bigints(() => made.getUniqueID())
    },
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
      return strings(() => Snowflake.nextId())
    },
  }),
  snowflake('snowflake-id', {
    open: ({ default: Snowflake }, { node }) => {
      const made = new Snowflake({ mid: node, offset: epochMs })
      return strings(() => made.generate())
    },
  }),
  snowflake('flakeid', {
    open: ({ default: FlakeId }, { node }) => {
      const made = new FlakeId({ mid: node, timeOffset: epochMs })
      return strings(() => made.gen())
    },
  }),
]

const others = [
  other('@napi-rs/uuid', 'v4', ({ v4 }) => v4),
  other('nanoid', '21 characters', ({ nanoid }) => nanoid),
  other('uuidv7', 'v7', ({ uuidv7 }) => uuidv7),
  other('uuid', 'v7', ({ v7 }) => v7),
  other('ulid', 'monotonic', ({ monotonicFactory }) => monotonicFactory()),
]

export const rivals = [...snowflakes, ...others]
