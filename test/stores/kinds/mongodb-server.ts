import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Bson, type Document, hello } from '../../support/mongo-wire.ts'

// A stand-in for a primary of MongoDB, as far as mongodbStore uses it, with the traps of the real server: a
// read that is not linearizable may see the record before the last write, as on a primary that has been
// deposed; a write that does not wait for the journals of most members is lost when the server is killed; a
// repeated write of a session is answered by the answer to the first. It is not MongoDB, and proves nothing
// about replication.

type Row = Document & { readonly _id: string }

interface FailPoint {
  times: number
  readonly commands: readonly string[]
  readonly error: Document | undefined
  readonly writeConcernError: Document | undefined
}

export interface StandInOptions {
  /** The file in which acknowledged writes are kept. */
  readonly file: string
  readonly port: number
  /** Without it the server belongs to no replica set. */
  readonly setName?: string
}

/** How many documents the first answer to a find has. */
const batch = 101

export class MongoStandIn {
  readonly #bson: Bson
  readonly #options: StandInOptions
  readonly #rows = new Map<string, Row>()
  /** Each row before its last write. */
  readonly #former = new Map<string, Row | undefined>()
  /** The answers to writes, by the session and the number of the write. */
  readonly #answered = new Map<string, Document>()
  readonly #cursors = new Map<bigint, Row[]>()
  #failPoint: FailPoint | undefined
  /** The commands of clients, without those of the driver itself. */
  readonly #seen: Document[] = []

  constructor(bson: Bson, options: StandInOptions) {
    this.#bson = bson
    this.#options = options
    const lines = existsSync(options.file) ? readFileSync(options.file, 'utf8').split('\n') : []
    for (const line of lines.filter((text) => text !== '')) {
      const [at, row] = JSON.parse(line, (_, value) => (value?.$long === undefined ? value : BigInt(value.$long)))
      this.#set(at, row ?? undefined)
    }
  }

  answer(command: Document): Document {
    const [name = ''] = Object.keys(command)
    if (name === 'hello' || name === 'ismaster' || name === 'isMaster') return this.#hello()
    if (name === 'endSessions' || name === 'ping') return { ok: 1 }
    if (name === 'configureFailPoint') return this.#configure(command)
    if (name === 'seen') return { seen: this.#seen.map(plain), ok: 1 }
    this.#seen.push(command)
    const failPoint = this.#failPoint?.commands.includes(name) ? this.#failPoint : undefined
    if (failPoint !== undefined && --failPoint.times === 0) this.#failPoint = undefined
    if (failPoint?.error !== undefined) return { ok: 0, ...failPoint.error }
    const session = (command['lsid'] as { id?: { buffer: Uint8Array } } | undefined)?.id?.buffer
    const once =
      session && command['txnNumber'] !== undefined && `${Buffer.from(session).toString('hex')} ${command['txnNumber']}`
    const answer = (once && this.#answered.get(once)) || this.#execute(name, command)
    if (once) this.#answered.set(once, answer)
    return { ...answer, ...(failPoint && { writeConcernError: failPoint.writeConcernError }) }
  }

  #execute(name: string, command: Document): Document {
    const read = (given: unknown) =>
      given instanceof Uint8Array ? this.#bson.deserialize(given, { useBigInt64: true }) : (given as Document)
    const at = (_id: unknown) => `${command['$db']}.${command[name]} ${_id}`
    const isKept = ({ w, j }: Document = {}) => w === 'majority' && j === true
    const keep = (_id: unknown, row: Row | undefined) =>
      this.#keep(at(_id), row, isKept(command['writeConcern'] as Document | undefined))
    const find = (filter: Document) => {
      const row = this.#rows.get(at(filter['_id']))
      return row !== undefined && (filter['version'] ?? row['version']) === row['version'] ? row : undefined
    }
    switch (name) {
      case 'insert': {
        const [row] = (command['documents'] as unknown[]).map(read) as [Row]
        if (find({ _id: row._id }) !== undefined) {
          const errmsg = `E11000 duplicate key error collection: ${command['$db']}.${command[name]} index: _id_`
          return { n: 0, writeErrors: [{ index: 0, code: 11_000, errmsg }], ok: 1 }
        }
        keep(row._id, row)
        return { n: 1, ok: 1 }
      }
      case 'update': {
        const [{ q, u }] = (command['updates'] as unknown[]).map(read) as [{ q: Document; u: { $set: Document } }]
        const found = find(q)
        if (found === undefined) return { n: 0, nModified: 0, ok: 1 }
        keep(found._id, { ...found, ...u.$set })
        return { n: 1, nModified: 1, ok: 1 }
      }
      case 'delete': {
        const [{ q }] = (command['deletes'] as unknown[]).map(read) as [{ q: Document }]
        const found = find(q)
        if (found !== undefined) keep(found._id, undefined)
        return { n: found === undefined ? 0 : 1, ok: 1 }
      }
      case 'findAndModify': {
        const [_id, { $inc }] = [(command['query'] as Row)._id, command['update'] as { $inc: { sum: bigint | number } }]
        const sum = BigInt((find({ _id })?.['sum'] as bigint | undefined) ?? 0n) + BigInt($inc.sum)
        if (sum >= 2n ** 63n) return { ok: 0, code: 2, errmsg: 'Failed to apply $inc operations to current value' }
        keep(_id, { _id, sum })
        return { value: { _id, sum }, ok: 1 }
      }
      case 'find':
        return this.#find(command, at)
      case 'getMore':
        return this.#page(command['getMore'] as bigint, 'nextBatch')
      default:
        return { ok: 0, code: 59, errmsg: `no such command: '${name}'` }
    }
  }

  #find(command: Document, at: (id: unknown) => string): Document {
    const { _id } = command['filter'] as { _id: string | { $gte: string; $lt: string } }
    const { level } = (command['readConcern'] ?? { level: 'local' }) as { level: string }
    if (level === 'linearizable' && this.#options.setName === undefined) {
      const errmsg = 'node needs to be a replica set member to use read concern'
      return { ok: 0, code: 123, codeName: 'NotAReplicaSet', errmsg }
    }
    if (typeof _id === 'string') {
      const isOld = level !== 'linearizable' && this.#former.has(at(_id))
      const row = (isOld ? this.#former : this.#rows).get(at(_id))
      return { cursor: { id: 0n, ns: at('').trim(), firstBatch: row === undefined ? [] : [row] }, ok: 1 }
    }
    const within = [...this.#rows].filter(
      ([place, row]) => place === at(row._id) && row._id >= _id.$gte && row._id < _id.$lt,
    )
    const cursor = BigInt(this.#cursors.size + 1)
    this.#cursors.set(
      cursor,
      within.map(([, row]) => row),
    )
    return this.#page(cursor, 'firstBatch')
  }

  #page(cursor: bigint, name: string): Document {
    const rest = this.#cursors.get(cursor) ?? []
    const page = rest.splice(0, batch)
    return { cursor: { id: rest.length === 0 ? 0n : cursor, ns: 'any.any', [name]: page }, ok: 1 }
  }

  #keep(at: string, row: Row | undefined, isKept: boolean): void {
    this.#former.set(at, this.#rows.get(at))
    this.#set(at, row)
    const text = JSON.stringify([at, row ?? null], (_, value) =>
      typeof value === 'bigint' ? { $long: `${value}` } : value,
    )
    if (isKept) appendFileSync(this.#options.file, `${text}\n`)
  }

  #set(at: string, row: Row | undefined): void {
    if (row === undefined) this.#rows.delete(at)
    else this.#rows.set(at, row)
  }

  #hello(): Document {
    const { port, setName } = this.#options
    const me = `127.0.0.1:${port}`
    const set = setName === undefined ? {} : { setName, setVersion: 1, hosts: [me], primary: me, me, secondary: false }
    return { ...hello, ...set, localTime: new Date(), logicalSessionTimeoutMinutes: 30 }
  }

  /** As the fail point `failCommand` of MongoDB. */
  #configure(command: Document): Document {
    const { failCommands, errorCode, errmsg, writeConcernError } = (command['data'] ?? {}) as Document
    const { times = Number.POSITIVE_INFINITY } = Object(command['mode']) as { times?: number }
    this.#failPoint =
      command['mode'] === 'off'
        ? undefined
        : {
            times: Number(times),
            commands: failCommands as string[],
            error:
              errorCode === undefined
                ? undefined
                : { code: Number(errorCode), errmsg: errmsg ?? 'failed by failCommand' },
            writeConcernError: writeConcernError as Document | undefined,
          }
    return { ok: 1 }
  }
}

/** The parts of a command by which a test sees what was asked for. */
function plain(command: Document): Document {
  const { writeConcern = null, readConcern = null, $readPreference = null, maxTimeMS = null } = command
  return { name: Object.keys(command)[0], writeConcern, readConcern, $readPreference, maxTimeMS }
}
