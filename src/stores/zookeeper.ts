import { show, typeError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { clientError, prefixRow, refuseForgetting } from './options.js'
import { decoded, newVersion } from './record.js'
import type { Store, StoreEntry, StoreOptions } from './store.js'
import { codeOf, codes, explained, missing, type Transaction, type ZooKeeperError } from './zookeeper-client.js'
import { Sessions } from './zookeeper-sessions.js'

/** The parts of a client of node-zookeeper-client 1.1, made by `createClient()`, that a store uses. */
export interface ZooKeeperClient {
  /** Begins to connect. */
  connect(): void
  /** Closes the session. */
  close(): void
  /** The timeout of the session, in milliseconds. */
  getSessionTimeout(): number
  /** Begins a transaction. */
  transaction(): object
}

/** The options of {@link zookeeperStore}. */
export interface ZooKeeperStoreOptions extends StoreOptions {
  /**
   * The node above all nodes of the store: below the root, or below the chroot path of the client. @default
   * 'graupel'
   */
  prefix?: string
  /**
   * The rights to the nodes that the store makes: an array of `ACL` of node-zookeeper-client.
   *
   * @default everyone may do everything
   */
  acl?: readonly object[]
}

const rows = { assumeDurable: { read: flag }, prefix: prefixRow, acl: {} } satisfies Rows<ZooKeeperStoreOptions>

/** A store that {@link zookeeperStore} returns. */
export interface ZooKeeperStore extends Store {
  /** Closes the client, which would keep the program running. Later calls are refused. Never rejects. */
  close(): Promise<void>
}

/** A version: the name of a node's only child, and the beginning of the node's data. */
const versionPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
const versionLength = 36

/**
 * A store in ZooKeeper 3.5 and later. Durable: a majority of the servers has every acknowledged write.
 * `assumeDurable: false` is refused, because servers of ZooKeeper have no incarnation.
 *
 * A client whose session has expired never answers again. So the store calls `createClient` for each session,
 * connects the client, and closes the last client in `close()`. A user needs READ, WRITE, CREATE and DELETE
 * on the node of the prefix and below, and CREATE above it unless the node exists.
 *
 * @param createClient - Returns a new client each time, not connected. The store uses the credentials of its
 * `addAuthInfo`.
 * @param options - None is required; {@link ZooKeeperStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with the client's errors, and with GraupelError `ERR_STORE_UNAVAILABLE` if there is no connection, if the
 * session has expired, if the server refuses the credentials (`AUTH_FAILED`) or the user has no right
 * (`NO_AUTH`), and after `close()`.
 * @example
 * // createClient is exported by node-zookeeper-client.
 * const store = zookeeperStore(() => createClient(process.env.ZOOKEEPER ?? '127.0.0.1:2181'))
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * await store.close()
 */
export function zookeeperStore(
  createClient: () => ZooKeeperClient,
  options: ZooKeeperStoreOptions = {},
): ZooKeeperStore {
  const { assumeDurable, prefix, acl } = readTable(options, rows, '{ assumeDurable: true }')
  refuseForgetting('ZooKeeper', assumeDurable)
  checkAcl(acl)
  if (typeof createClient !== 'function') {
    throw clientError('ZooKeeper', createClient, 'a function that returns createClient(…) of node-zookeeper-client')
  }
  const sessions = new Sessions(createClient)
  const root = `/${prefix}`
  const clock = `${root}/clock`
  /** The data of a node that only has children. */
  const noData = Buffer.alloc(0)

  const call = async <T>(signal: AbortSignal | undefined, ask: Parameters<typeof sessions.call<T>>[1]) => {
    try {
      return await sessions.call<T>(signal, ask)
    } catch (error) {
      throw explained(error as ZooKeeperError, root)
    }
  }

  /**
   * Makes the nodes that are missing, and resolves to the errors. All requests are sent at once, and answered
   * in order.
   */
  const make = (paths: readonly string[], signal: AbortSignal | undefined) =>
    Promise.all(
      paths.map((path) =>
        call(signal, (client, answer) => client.create(path, noData, acl, answer)).catch((error) => {
          if (codeOf(error) !== codes.nodeExists) return error
        }),
      ),
    )

  /**
   * Runs a transaction. Resolves to the code of its failure if a node is missing or exists already; otherwise
   * to `undefined`.
   */
  const failureOf = (steps: (transaction: Transaction) => Transaction, signal: AbortSignal | undefined) =>
    call(signal, (client, answer) => steps(client.transaction()).commit(answer)).then(
      () => undefined,
      (error) => {
        const code = codeOf(error)
        if (code === codes.noNode || code === codes.nodeExists) return code
        throw error
      },
    )

  return {
    name: 'zookeeper',
    durable: true,
    read(key, signal) {
      const { path } = pathsOf(root, key)
      return call(signal, (client, answer) => {
        // A server may be behind the leader, and the client has no sync(). A transaction goes through the
        // leader, and the calls of a session run in order. So the server has all acknowledged writes when it
        // reads.
        let behind: ZooKeeperError | null | undefined = new Error('its transaction was not answered')
        client
          .transaction()
          .check(root)
          .commit((error) => {
            behind = error?.code === codes.noNode ? undefined : error
          })
        client.getData(path, (error, data) => {
          if (behind) answer(behind, undefined)
          else if (error?.code === codes.noNode) answer(null, undefined)
          else answer(error, error ? undefined : entryOf(key, data))
        })
      })
    },
    async list(folder, signal) {
      const { path } = pathsOf(root, folder)
      const names = await call<string[]>(signal, (client, answer) =>
        client.getChildren(path, (error, found) => {
          if (error?.code === codes.noNode) answer(null, [])
          else answer(error, found)
        }),
      )
      // All reads are one call, because each call adds a listener to the signal, and Node warns of more than
      // ten.
      const entries = await call<(StoreEntry | undefined)[]>(signal, (client, answer) => {
        const found: (StoreEntry | undefined)[] = []
        if (names.length === 0) answer(null, found)
        for (const name of names) {
          client.getData(`${path}/${name}`, (error, data) => {
            const isGone = error?.code === codes.noNode
            if (error && !isGone) return answer(error, found)
            found.push(isGone ? undefined : entryOf(folder + decoded(name), data))
            if (found.length === names.length) answer(null, found)
          })
        }
      })
      return entries.filter((entry) => entry !== undefined)
    },
    async write(key, value, expected, signal) {
      const { folder, path } = pathsOf(root, key)
      const version = newVersion()
      const data = Buffer.from(version + value)
      const child = `${path}/${version}`
      if (expected !== undefined) {
        if (!isVersion(expected)) return undefined
        // The child exists for as long as its write is the last. The server's own version of a node would not
        // do: it begins again in a node that was removed and made again.
        const failed = await failureOf(
          (steps) => steps.remove(`${path}/${expected}`).create(child, noData, acl).setData(path, data),
          signal,
        )
        return failed === undefined ? version : undefined
      }
      const create = () => failureOf((steps) => steps.create(path, data, acl).create(child, noData, acl), signal)
      let failed = await create()
      if (failed === codes.noNode) {
        const reasons = await make([root, folder], signal)
        failed = await create()
        if (failed === codes.noNode) throw missing(root, reasons)
      }
      return failed === undefined ? version : undefined
    },
    async remove(key, expected, signal) {
      if (!isVersion(expected)) return false
      const { folder, path } = pathsOf(root, key)
      const failed = await failureOf((steps) => steps.remove(`${path}/${expected}`).remove(path), signal)
      if (failed !== undefined) return false
      // A folder with other records is not removed. A write that finds no folder makes it.
      await call(signal, (client, answer) => client.transaction().remove(folder).commit(answer)).catch((error) => {
        if (codeOf(error) !== codes.notEmpty && codeOf(error) !== codes.noNode) throw error
      })
      return true
    },
    async nowMs(signal) {
      const write = () =>
        call<number | undefined>(signal, (client, answer) =>
          client.setData(clock, noData, -1, (error, stat) => {
            if (error?.code === codes.noNode) answer(null, undefined)
            else answer(error, error ? undefined : Number(stat.mtime.readBigInt64BE()))
          }),
        )
      const nowMs = await write()
      if (nowMs !== undefined) return nowMs
      const reasons = await make([root, clock], signal)
      const again = await write()
      if (again === undefined) throw missing(root, reasons)
      return again
    },
    place: (signal) =>
      call(signal, ({ connectionManager: { servers, chrootPath = '' } }, answer) => {
        const hosts = servers.map(({ host, port }) => `${host}:${port}`)
        answer(null, `servers ${hosts.join(',')}, nodes below ${chrootPath}${root}`)
      }),
    close: () => sessions.close(),
  }
}

/** Returns whether a write can have this version: no write has a version of another form. */
function isVersion(text: string): boolean {
  return versionPattern.test(text) && text.length === versionLength
}

/** Maps a key to nodes. Each folder is one node, whose children are its records. */
function pathsOf(root: string, key: string): { folder: string; path: string } {
  const at = key.lastIndexOf('/') + 1
  // The percent sign keeps folders apart from `clock`, and gives the empty folder a name.
  const folder = `${root}/%${nodeName(key.slice(0, at))}`
  return { folder, path: at === key.length ? folder : `${folder}/${nodeName(key.slice(at))}` }
}

/** Encodes a text as the name of a node, which may not be `.` or `..`. */
function nodeName(text: string): string {
  return encodeURIComponent(text).replace(/^\.\.?$/, (dots) => '%2E'.repeat(dots.length))
}

function entryOf(key: string, data: Buffer | undefined): StoreEntry {
  const text = data?.toString() ?? ''
  const version = versionPattern.exec(text)?.[0]
  // Data that was written by hand is returned as it is. No write can expect its version.
  if (version === undefined) return { key, value: text, version: 'none' }
  return { key, value: text.slice(versionLength), version }
}

/** @throws TypeError `ERR_OPTION_INVALID` */
function checkAcl(acl: unknown): void {
  if (acl === undefined) return
  const isAcl = (one: unknown) => typeof Object(one).toRecord === 'function'
  if (Array.isArray(acl) && acl.length > 0 && acl.every(isAcl)) return
  throw typeError(
    'ERR_OPTION_INVALID',
    `acl is ${show(acl)}; pass an array of ACL of node-zookeeper-client, such as ACL.CREATOR_ALL_ACL`,
  )
}
