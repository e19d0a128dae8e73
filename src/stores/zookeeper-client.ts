/** What a call of the client answers with; an error has the code of ZooKeeper's KeeperException. */
export type Answer<T = unknown> = (error: ZooKeeperError | null | undefined, result: T) => void

export interface ZooKeeperError extends Error {
  readonly code?: number
}

/** What is used of a client of node-zookeeper-client 1.1. Its constants are written out, because it is not imported. */
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
 * Several writes in one step. Versions of nodes are left out, because the client takes version 0 for -1, which is any (its
 * Transaction.js, `version || -1`).
 */
export interface Transaction {
  check(path: string): Transaction
  create(path: string, data: Uint8Array, acl: readonly object[] | undefined): Transaction
  remove(path: string): Transaction
  setData(path: string, data: Uint8Array): Transaction
  commit(answer: Answer): void
}

/** The inside of a client, which is needed because its outside neither tells why nor ends what hangs. */
interface ConnectionManager {
  readonly socket?: { destroy(): void }
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
export const codes = { noNode: -101, noAuth: -102, nodeExists: -110, sessionExpired: -112, invalidAcl: -114 } as const

export function isClient(value: unknown): value is Client {
  const of = Object(value) as Partial<Client>
  const manager = Object(of.connectionManager) as Partial<ConnectionManager>
  return typeof of.transaction === 'function' && typeof manager.onSocketClosed === 'function'
}

interface Heard {
  /** Why there is no connection, or there is none any more. */
  failed(reason: Error): void
  /** A connection has ended. @returns Whether the client shall connect again. */
  closed(): boolean
}

/** Mends what would end the process, or hang, in a client that is not connected yet. */
export function mend(client: Client, heard: Heard): void {
  const manager = client.connectionManager
  const { findNextServer, onSocketClosed, onSocketData, onSocketError } = manager
  manager.findNextServer = (connect) => {
    findNextServer.call(manager, (server) => {
      try {
        connect(server)
      } catch (error) {
        // Node refuses what is no port. Later, because the number of the next server is not counted up yet.
        heard.failed(error as Error)
        setImmediate(() => manager.onSocketClosed(true))
      }
    })
  }
  manager.onSocketData = (data) => {
    try {
      onSocketData.call(manager, data)
    } catch (error) {
      // It throws for codes that it does not know, such as that of a quota, and for what another service says.
      heard.failed(error as Error)
      manager.socket?.destroy()
    }
  }
  manager.onSocketError = (error) => {
    heard.failed(error)
    onSocketError.call(manager, error)
  }
  manager.onSocketClosed = (hadError) => {
    if (manager.connectTimeoutHandler !== null) clearTimeout(manager.connectTimeoutHandler)
    // It would take the half of a reply for the beginning of what the next connection brings.
    manager.pendingBuffer = null
    if (heard.closed()) onSocketClosed.call(manager, hadError)
  }
}
