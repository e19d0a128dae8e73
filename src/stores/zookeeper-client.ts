import { GraupelError } from '../core/errors.js'

/** Takes the answer of a call. An error has the code of ZooKeeper's KeeperException. */
export type Answer<T = unknown> = (error: ZooKeeperError | null | undefined, result: T) => void

export interface ZooKeeperError extends Error {
  readonly code?: number
}

/**
 * The parts of a client of node-zookeeper-client that the store uses. The package is not imported, so its
 * constants stand here.
 */
export interface Client {
  connect(): void
  close(): void
  getState(): { readonly code: number }
  getSessionTimeout(): number
  on(event: 'state', listener: (state: { readonly code: number }) => void): unknown
  create(path: string, data: Uint8Array, acl: readonly object[] | undefined, answer: Answer): void
  getChildren(path: string, answer: Answer<string[]>): void
  getData(path: string, answer: Answer<Buffer | undefined>): void
  setData(path: string, data: Uint8Array, version: number, answer: Answer<{ readonly mtime: Buffer }>): void
  transaction(): Transaction
  readonly connectionManager: ConnectionManager
}

/**
 * Several writes in one step. They name no versions of nodes, because the client sends -1, which means any
 * version, for version 0 (its Transaction.js, `version || -1`).
 */
export interface Transaction {
  check(path: string): Transaction
  create(path: string, data: Uint8Array, acl: readonly object[] | undefined): Transaction
  remove(path: string): Transaction
  setData(path: string, data: Uint8Array): Transaction
  commit(answer: Answer): void
}

/**
 * A private object of a client. Its public methods give no reason for a failure, and cannot end a call that
 * hangs.
 */
interface ConnectionManager {
  readonly socket?: { destroy(): void }
  readonly servers: readonly { readonly host: string; readonly port: number }[]
  readonly chrootPath?: string
  readonly state: number
  readonly connectTimeoutHandler: NodeJS.Timeout | null
  pendingBuffer: Buffer | null
  findNextServer(connect: (server: object) => void): void
  onSocketClosed(hadError: boolean): void
  onSocketData(data: Buffer): void
  onSocketError(error: Error): void
}

/** Codes of the client's states (its State.js). */
export const states = { connected: 3, authFailed: 4, readOnly: 5, expired: -122 } as const

/** The state of a ConnectionManager that does not connect, which has numbers of its own. */
export const disconnected = 0

/** Codes of errors (its Exception.js). */
export const codes = {
  noNode: -101,
  noAuth: -102,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidAcl: -114,
} as const

export function isClient(value: unknown): value is Client {
  const of = Object(value) as Partial<Client>
  const manager = Object(of.connectionManager) as Partial<ConnectionManager>
  return typeof of.transaction === 'function' && typeof manager.onSocketClosed === 'function'
}

interface Listener {
  /** Takes the reason why there is no connection. */
  failed(reason: Error): void
  /** Hears that a connection has ended. @returns Whether the client connects again. */
  closed(): boolean
  /** Whether the client was ended, so that it may not connect. */
  isOver(): boolean
}

/**
 * Replaces four private methods of a client that is not connected yet, whose faults would end the process or
 * leave calls without an answer. All knowledge of the inside of node-zookeeper-client 1.1.3 is in this file;
 * test/stores/adapters.test.ts names that version. Remove this function once the package itself reports these
 * errors:
 *
 * - a refused port (findNextServer)
 * - an unknown code (onSocketData)
 * - the error of a socket (onSocketError)
 * - the rest of a reply after a lost connection (onSocketClosed)
 */
export function mend(client: Client, listener: Listener): void {
  const manager = client.connectionManager
  const { findNextServer, onSocketClosed, onSocketData, onSocketError } = manager
  manager.findNextServer = (connect) => {
    findNextServer.call(manager, (server) => {
      // The client pauses before it connects, and was ended meanwhile. A connection to a server that hangs
      // would keep the process alive.
      if (listener.isOver()) return
      try {
        connect(server)
      } catch (error) {
        // Node refuses an invalid port. The client reconnects later, because it has not yet counted on to the
        // next server.
        listener.failed(error as Error)
        setImmediate(() => manager.onSocketClosed(true))
      }
    })
  }
  manager.onSocketData = (data) => {
    try {
      onSocketData.call(manager, data)
    } catch (error) {
      // The client throws for codes that it does not know, such as the code of a quota, and for the answers
      // of another service.
      listener.failed(error as Error)
      manager.socket?.destroy()
    }
  }
  manager.onSocketError = (error) => {
    listener.failed(error)
    onSocketError.call(manager, error)
  }
  manager.onSocketClosed = (hadError) => {
    if (manager.connectTimeoutHandler !== null) clearTimeout(manager.connectTimeoutHandler)
    // The client would take half a reply for the beginning of the first reply on the next connection.
    manager.pendingBuffer = null
    if (listener.closed()) onSocketClosed.call(manager, hadError)
  }
}

/** Reads the code of an error, even if {@link explained} has wrapped it. */
export function codeOf(error: unknown): unknown {
  return error instanceof GraupelError ? codeOf(error.cause) : Object(error).code
}

/** Replaces an error about rights by an error that says what to do. */
export function explained(error: ZooKeeperError, root: string): unknown {
  const texts: Record<number, string> = {
    [codes.noAuth]: `the client of the store 'zookeeper' may not do this in ${root} (NO_AUTH); call client.addAuthInfo() in the function that makes the clients`,
    [codes.invalidAcl]: `the client of the store 'zookeeper' gave an ACL that the server refuses (INVALID_ACL); CREATOR_ALL_ACL needs client.addAuthInfo()`,
  }
  const text = texts[Number(error?.code)]
  return text === undefined ? error : new GraupelError('ERR_STORE_UNAVAILABLE', text, { cause: error })
}

/** Makes the error of nodes that could not be made. */
export function missing(root: string, reasons: readonly unknown[]): unknown {
  const reason = reasons.find((one) => one !== undefined)
  if (reason instanceof GraupelError) return reason
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the store 'zookeeper' cannot make the node ${root}; if the connection string of the client ends with a path, make that first`,
    { cause: reason },
  )
}
