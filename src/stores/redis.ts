import { GraupelError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { clientError, outliveErrors, prefixRow } from './options.js'
import { newVersion } from './record.js'
import { ReplicaCheck } from './redis-replicas.js'
import { commandFor, type Script, textOf } from './redis-scripts.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

/**
 * A client of ioredis, of node-redis (`redis`, `@redis/client`) from version 5 on, or of
 * `@valkey/valkey-glide`; single, Sentinel or Cluster.
 */
export type RedisClient = IoredisClient | NodeRedisClient | GlideClient

interface IoredisClient {
  call(command: string, ...words: string[]): Promise<unknown>
}
interface NodeRedisClient {
  // Clients of one server take the words alone; other clients take arguments before the words.
  // biome-ignore lint/suspicious/noExplicitAny: each client has its own arguments
  sendCommand(...words: any[]): Promise<unknown>
}
interface GlideClient {
  customCommand(words: string[]): Promise<unknown>
}

/** The options of {@link redisStore}. */
export interface RedisStoreOptions extends StoreOptions {
  /** The beginning of the names of its keys. @default 'graupel' */
  prefix?: string
}

const rows = { assumeDurable: { read: flag, byDefault: false }, prefix: prefixRow } satisfies Rows<RedisStoreOptions>

const versionLength = 36

/**
 * A store in Redis or Valkey, of version 5 and later. Not durable: a failover to a replica, or a restart from
 * a snapshot, may take acknowledged writes back. `assumeDurable: true` is right for one server with
 * `appendfsync always`.
 *
 * Each folder of keys is one hash, `{prefix}:folder`, which a server has or loses as a whole. All hashes are
 * in one slot of a cluster. Reads also need the primary. A user needs EVAL, HGET, HGETALL,
 * HINCRBY, HSET, INFO, PERSIST and TIME (`~{graupel}* +eval +hget …` in an ACL), and HDEL for `remove`. It
 * warns of a low `min-replicas-to-write`.
 *
 * @param client - A connected client of ioredis, node-redis or valkey-glide: of one server, of Sentinel, or
 * of a cluster. It is never closed. If nobody listens to the event `error` of a client of node-redis, the
 * store does: without a listener, the client does not connect again.
 * @param options - None is required; {@link RedisStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with the client's errors; with GraupelError `ERR_STORE_INVALID` if the client gave the answer to another
 * call; with `ERR_STORE_UNSAFE` if the client is inside MULTI. `incarnation` and `nowMs` reject with
 * `ERR_STORE_UNSAFE` if the server's `maxmemory-policy` evicts keys that do not expire, such as
 * `allkeys-lru`.
 * @example
 * const client = new Redis(process.env.REDIS_URL, { socketTimeout: 3000 }) // of ioredis
 * const store = redisStore(client)
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * client.disconnect()
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): Store {
  const { prefix, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  const send = senderOf(client)
  const run = async (script: Script, name: string, given: string[], signal: AbortSignal | undefined) => {
    signal?.throwIfAborted()
    // The text in braces determines the slot.
    const hash = `{${prefix}}${name}`
    const { words, answerOf } = commandFor(script, hash, given)
    return answerOf(await send(hash, words))
  }
  /**
   * Asks the server that has the hash of a key: while a slot migrates, some of its hashes are on one server,
   * and some on another.
   */
  const ask = async (script: 'time' | 'info', key: string | undefined, signal: AbortSignal | undefined) => {
    const text = await run(script, key === undefined ? '' : `:${partsOf(key).folder}`, [], signal)
    const of = (field: string) => {
      const found = new RegExp(`^${field}:(.+?)\\r?$`, 'm').exec(text)?.[1]
      if (found === undefined) throw new Error(`INFO of the server has no ${field}`)
      return found
    }
    // The other policies only evict keys that expire, and the store's keys do not expire.
    if (of('maxmemory') !== '0' && of('maxmemory_policy').startsWith('allkeys')) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `the server has maxmemory-policy ${of('maxmemory_policy')}, so it may evict the records of leases; set maxmemory-policy noeviction`,
      )
    }
    return { text, of }
  }
  const replicas = new ReplicaCheck()
  return {
    name: 'redis',
    durable: assumeDurable,
    async read(key, signal) {
      const { folder, name } = partsOf(key)
      const found = await run('read', `:${folder}`, [name], signal)
      return found === '' ? undefined : entryOf(key, found)
    },
    async list(folder, signal) {
      // Names and values in turns.
      const found = Array.from<string>(JSON.parse(await run('list', `:${folder}`, [], signal)))
      return found.flatMap((name, i) => (i % 2 === 0 ? [entryOf(folder + name, found[i + 1] as string)] : []))
    },
    async write(key, value, expected, signal) {
      const { folder, name } = partsOf(key)
      const version = newVersion()
      const answer = await run('write', `:${folder}`, [name, expected ?? '', version + value], signal)
      return answer === 'written' ? version : undefined
    },
    async remove(key, expected, signal) {
      const { folder, name } = partsOf(key)
      return (await run('remove', `:${folder}`, [name, expected], signal)) === 'removed'
    },
    async nowMs(signal, key) {
      const { of } = await ask('time', key, signal)
      const [seconds, microseconds] = of('now').split(' ')
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000)
    },
    async incarnation(signal, key) {
      const { text, of } = await ask('info', key, signal)
      // Not in the script, which may not ask that.
      await replicas.check(text, () => send(`{${prefix}}`, ['CONFIG', 'GET', 'min-replicas-to-write']))
      return `${of('run_id')} ${of('master_replid')}`
    },
    async place(signal) {
      const text = await run('place', '', [], signal)
      const [, keys, id, port] = /^(.*?) # Server.*^run_id:(\S+).*^tcp_port:(\d+)/ms.exec(text) ?? []
      // Not in the script, which may not ask that. A cluster has one database, and a user may have no right
      // to ask.
      const isCluster = /^redis_mode:cluster/m.test(text)
      const client = isCluster ? '' : await send(keys as string, ['CLIENT', 'INFO']).then(textOf, () => '')
      const [, address = `port ${port}`] = /laddr=(\S+)/.exec(client) ?? []
      const [, database = isCluster ? '0' : 'unknown'] = / db=(\d+)/.exec(client) ?? []
      return `server ${address} (run_id ${id}), database ${database}, keys ${keys}:`
    },
    async add(key, count, signal) {
      const { folder, name } = partsOf(key)
      return BigInt(await run('add', `.sums:${folder}`, [name, count.toString()], signal))
    },
  }
}

/** Returns the function by which a client sends a command for a key. */
function senderOf(client: RedisClient): (key: string, words: [string, ...string[]]) => Promise<unknown> {
  // Every function has call(), such as a class whose `new` was forgotten.
  const given: unknown = typeof client === 'function' ? undefined : client
  const of = given as Partial<IoredisClient & NodeRedisClient & GlideClient> | null | undefined
  if (typeof of?.customCommand === 'function') return (_key, words) => (client as GlideClient).customCommand(words)
  if (typeof of?.call === 'function')
    return (_key, [command, ...words]) => (client as IoredisClient).call(command, ...words)
  if (typeof of?.sendCommand !== 'function') {
    throw clientError('Redis', client, 'a client of ioredis, node-redis or valkey-glide')
  }
  outliveErrors(client)
  // Only a client of a cluster has `masters`; only a client of Sentinel has `getMasterNode`. `false` means
  // that the command is not a read.
  if ('masters' in of) return (key, words) => (client as NodeRedisClient).sendCommand(key, false, words)
  if ('getMasterNode' in of) return (_key, words) => (client as NodeRedisClient).sendCommand(false, words)
  return (_key, words) => (client as NodeRedisClient).sendCommand(words)
}

function partsOf(key: string): { folder: string; name: string } {
  const at = key.lastIndexOf('/') + 1
  return { folder: key.slice(0, at), name: key.slice(at) }
}

function entryOf(key: string, stored: string): StoreEntry {
  return { key, version: stored.slice(0, versionLength), value: stored.slice(versionLength) }
}
