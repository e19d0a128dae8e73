import { GraupelError, reasonOf } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { clientError, refuseForgetting, tableRow } from './options.js'
import { endOf, newVersion } from './record.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'

/** A `Db` of the package `mongodb`, of version 6 and later, such as the result of `client.db()`. */
export type MongodbDatabase = MongodbDb

interface MongodbDb {
  readonly databaseName: string
  command(command: Document, options?: object): Promise<Document>
  collection(name: string): MongodbCollection
}

interface MongodbCollection {
  findOne(filter: Document, options?: object): Promise<Document | null>
  find(filter: Document, options?: object): { toArray(): Promise<Document[]> }
  insertOne(record: Document, options?: object): Promise<{ acknowledged: boolean }>
  updateOne(
    filter: Document,
    update: Document,
    options?: object,
  ): Promise<{ acknowledged: boolean; matchedCount: number }>
  findOneAndUpdate(filter: Document, update: Document, options?: object): Promise<Document | null>
  deleteOne(filter: Document, options?: object): Promise<{ acknowledged: boolean; deletedCount: number }>
}

// biome-ignore lint/suspicious/noExplicitAny: the driver has its own type for documents
type Document = any

/** The options of {@link mongodbStore}. */
export interface MongodbStoreOptions extends StoreOptions {
  /** The name of the collection, which the first write creates. @default 'graupel_store' */
  collection?: string
}

const rows = { assumeDurable: { read: flag }, collection: tableRow } satisfies Rows<MongodbStoreOptions>

/**
 * Each write waits until most members have it in their journals. An option of a call counts more than the
 * options of the client, so a client with `w: 1` acknowledges no write too early.
 */
const acknowledged = { writeConcern: { w: 'majority', j: true } }

/** How long the server may work for a read, so that a read without a majority does not stay for ever. */
const maxTimeMS = 10_000

const duplicateKey = 11_000

/**
 * A store in a collection of MongoDB, on a replica set. Durable: MongoDB acknowledges what most of its
 * members have in their journals. Restoring a backup takes writes back: stop all processes before it, and
 * start them one window + `maxClockSkewMs` after the last process has ended.
 *
 * Reads are linearizable, and every call goes to the primary, whatever the options of the client say. The
 * clock is the primary's. A user needs the role `readWrite` on the database.
 *
 * **Verified on a stand-in for MongoDB alone**, by the real driver; docs/stores/mongodb.md says more.
 *
 * @param database - A `Db` of the package `mongodb`. Its client is never closed.
 * @param options - None is required; {@link MongodbStoreOptions} describes all. `assumeDurable` may not be
 * false, because the servers of MongoDB have no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with GraupelError `ERR_STORE_UNAVAILABLE` if a right, the user or the server has to be changed, such as a
 * server without a replica set; and otherwise with the client's errors.
 * @example
 * const url = process.env.MONGODB_URL ?? 'mongodb://127.0.0.1:27017/app?replicaSet=rs0'
 * const client = new MongoClient(url, { connectTimeoutMS: 3000, socketTimeoutMS: 3000 })
 * const store = mongodbStore(client.db())
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * await client.close()
 */
export function mongodbStore(database: MongodbDatabase, options: MongodbStoreOptions = {}): Store {
  const { collection: name, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  refuseForgetting('MongoDB', assumeDurable)
  // A database of the driver's version 4 has both functions as well.
  const of = database as Partial<MongodbDatabase> | null | undefined
  if (typeof of?.command !== 'function' || typeof of.collection !== 'function' || typeof of.databaseName !== 'string') {
    throw clientError('MongoDB', database, 'a Db of the package mongodb, such as client.db()')
  }
  const collection = database.collection(name)

  const run = async <T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      throw explained(error)
    }
  }
  /** Makes a write. Its answer has to be an acknowledgement. */
  const write = async <T extends { acknowledged: boolean }>(
    signal: AbortSignal | undefined,
    call: () => Promise<T>,
  ) => {
    const result = await run(signal, call)
    if (result.acknowledged) return result
    throw new Error('the client did not wait for the answer to a write')
  }
  const hello = (signal: AbortSignal | undefined) =>
    run(signal, () => database.command({ hello: 1 }, { readPreference: 'primary', ...optionsOf(signal) }))

  return {
    name: 'mongodb',
    durable: true,
    async read(key, signal) {
      // Not 'majority': a primary that has been deposed, and does not know it yet, answers such a read by an
      // older record. Before a linearizable answer, the primary lets a majority confirm that it still leads.
      const options = { readConcern: { level: 'linearizable' }, readPreference: 'primary', maxTimeMS }
      const found = await run(signal, () => collection.findOne({ _id: key }, { ...options, ...optionsOf(signal) }))
      return found === null ? undefined : entryOf(found)
    },
    async list(folder, signal) {
      const options = { readConcern: { level: 'majority' }, readPreference: 'primary', maxTimeMS }
      const range = { _id: { $gte: folder, $lt: endOf(folder) } }
      const found = await run(signal, () => collection.find(range, { ...options, ...optionsOf(signal) }).toArray())
      return found.map(entryOf).filter(({ key }) => !key.includes('/', folder.length))
    },
    async write(key, value, expected, signal) {
      const version = newVersion()
      if (expected !== undefined) {
        const update = { $set: { value, version } }
        const { matchedCount } = await write(signal, () =>
          collection.updateOne({ _id: key, version: expected }, update, acknowledged),
        )
        return matchedCount === 1 ? version : undefined
      }
      try {
        await write(signal, () => collection.insertOne({ _id: key, value, version }, acknowledged))
        return version
      } catch (error) {
        if (codeOf(error) === duplicateKey) return undefined
        throw error
      }
    },
    async remove(key, expected, signal) {
      const filter = { _id: key, version: expected }
      return (await write(signal, () => collection.deleteOne(filter, acknowledged))).deletedCount === 1
    },
    async add(key, count, signal) {
      const options = { upsert: true, returnDocument: 'after', ...acknowledged, ...asBigint }
      const sums = database.collection(`${name}_sums`)
      for (;;) {
        try {
          const found = await run(signal, () => sums.findOneAndUpdate({ _id: key }, { $inc: { sum: count } }, options))
          return BigInt(found?.['sum'])
        } catch (error) {
          // Another process has made the number at the same moment, and this addition was not done.
          if (codeOf(error) !== duplicateKey) throw error
        }
      }
    },
    async nowMs(signal) {
      const { localTime } = await hello(signal)
      if (localTime instanceof Date) return localTime.getTime()
      throw new Error(`the server's answer to hello has ${typeof localTime} for its localTime`)
    },
    async place(signal) {
      const { setName = 'none', hosts = [] } = await hello(signal)
      const servers = hosts.length === 0 ? '' : ` (${[...hosts].sort().join(', ')})`
      return `replica set ${setName}${servers}, database ${database.databaseName}, collection ${name}`
    },
  }
}

/** Reads 64 bits exactly, whatever the client's options are. */
const asBigint = { useBigInt64: true, promoteLongs: true, promoteValues: true }

function optionsOf(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function entryOf({ _id, value, version }: Document): StoreEntry {
  return { key: _id, value, version }
}

function codeOf(error: unknown): unknown {
  return Object(error).code
}

/** The remedies of errors that a later attempt does not get rid of, by their codes. */
const remedies: Readonly<Record<number, string>> = {
  13: 'grant the user the role readWrite on the database',
  18: 'check the user, the password and authSource',
  123: 'run the server as a replica set, of one member if need be: mongod --replSet rs0, and rs.initiate()',
  8000: 'check the user and the password',
}

/** Explains an error that a user has to act on. Returns any other error unchanged. */
function explained(error: unknown): unknown {
  const reason = reasonOf(error)
  const remedy = remedies[codeOf(error) as number] ?? (/read ?concern/i.test(reason) ? imitation : undefined)
  if (remedy === undefined) return error
  // The message about a missing right repeats the command, with the record.
  const text = reason.replace(/ to execute command .*/, ' to execute the command')
  return new GraupelError('ERR_STORE_UNAVAILABLE', `MongoDB cannot be used (${text}); ${remedy}`, { cause: error })
}

const imitation = 'is this MongoDB 4.4 or later? Other servers of its protocol have no linearizable reads'
