import { GraupelError, rangeError } from '../../core/errors.js'
import { decoded } from '../record.js'
import type { RedisClient } from '../redis.js'
import {
  type Client,
  connectMs,
  ignore,
  type Names,
  type Opened,
  orClosed,
  reconnectMs,
  type StoreKind,
  silentMs,
  within,
} from './kind.js'
import type { StoreUrl } from './url.js'

// URLs do not show whether a server belongs to a cluster, so each client asks the server. The client of a
// single server would not find the keys of other servers.

const ioredis: Client = {
  name: 'ioredis',
  async open({ Redis, Cluster }, url, { names }) {
    checkPath(url)
    let isConnected = false
    const retry = () => (isConnected ? reconnectMs : null)
    const connect = async (client: IoredisClient) => {
      const failed = new Promise<never>((_, reject) => {
        client.on('error', reject)
        // Comes after the error, and alone if the server, or a proxy without one, has closed the connection.
        client.on('end', () => reject(new Error('no answer: the connection was closed')))
      })
      failed.catch(ignore)
      // connect() rejects with 'Connection is closed'; the event has the reason.
      const connected = () => Promise.race([client.connect().catch(() => failed), failed])
      await orClosed(() => client.disconnect(), connected)
      return client
    }
    const client = await connect(
      new Redis(url.text, {
        lazyConnect: true,
        connectTimeout: connectMs,
        socketTimeout: silentMs,
        retryStrategy: retry,
        // A repeated command would meet its own write.
        autoResendUnfulfilledCommands: false,
        maxRetriesPerRequest: 0,
      }),
    )
    const info = () => client.call('INFO', 'cluster')
    const isCluster = await orClosed(
      () => client.disconnect(),
      () => inCluster(info),
    )
    if (isCluster) client.disconnect()
    const { username, password, tls } = client.options
    const redisOptions = { username, password, tls, connectTimeout: connectMs, socketTimeout: silentMs }
    const used = isCluster
      ? await connect(new Cluster([url.text], { lazyConnect: true, clusterRetryStrategy: retry, redisOptions }))
      : client
    isConnected = true
    return opened(used, names, () => used.disconnect())
  },
}

/** The parts of a client of ioredis that are used. */
interface IoredisClient {
  readonly options: { readonly username?: string; readonly password?: string; readonly tls?: object }
  on(event: 'error' | 'end', listener: (error: Error) => void): unknown
  connect(): Promise<unknown>
  call(command: string, ...words: string[]): Promise<unknown>
  disconnect(): void
}

const nodeRedis: Client = {
  name: 'redis',
  staysSilent: true,
  async open({ createClient, createCluster }, url, { names }) {
    checkPath(url)
    let isConnected = false
    const socket = { connectTimeout: connectMs, reconnectStrategy: () => (isConnected ? reconnectMs : false) }
    const client = createClient({ url: url.text, socket })
    if (client.destroy === undefined) {
      throw new GraupelError(
        'ERR_STORE_UNAVAILABLE',
        'the package redis is older than version 5, which waits for ever, or ends the process, after a connection that broke within an answer; run: npm install redis@latest',
      )
    }
    client.on('error', ignore)
    const isCluster = await inTime(client, async () => {
      await client.connect()
      return inCluster(() => client.sendCommand(['INFO', 'cluster']))
    })
    if (!isCluster) {
      isConnected = true
      return opened(client, names, () => client.destroy())
    }
    client.destroy()
    const { tls, credentials } = partsOf(url)
    const defaults = { ...credentials, socket: { ...socket, ...(tls && { tls }) } }
    const cluster = createCluster({ rootNodes: [{ url: url.text }], defaults })
    cluster.on('error', ignore)
    await inTime(cluster, () => cluster.connect())
    isConnected = true
    return opened(cluster, names, () => cluster.destroy())
  },
}

/**
 * Uses a client of node-redis for the first time. It would wait for ever for a server that does not answer,
 * and a cluster of which one server is missing would keep the connections to the others.
 */
function inTime<T>(client: { destroy(): void }, work: () => Promise<T>): Promise<T> {
  return orClosed(
    () => client.destroy(),
    () => within(connectMs, work),
  )
}

const glide: Client = {
  name: '@valkey/valkey-glide',
  staysSilent: true,
  async open({ GlideClient, GlideClusterClient, Logger }, url, { names }) {
    checkPath(url)
    // It would write to stdout, among the ids.
    Logger.init('off')
    const { host, port, database, tls, credentials } = partsOf(url)
    const options = {
      addresses: [{ host, port }],
      useTLS: tls,
      ...(credentials.password !== undefined && { credentials: { username: 'default', ...credentials } }),
      requestTimeout: connectMs,
      advancedConfiguration: { connectionTimeout: connectMs },
    }
    const client = await GlideClient.createClient({ ...options, databaseId: database })
    const close = () => client.close()
    const isCluster = await orClosed(close, () => inCluster(() => client.customCommand(['INFO', 'cluster'])))
    if (!isCluster) return opened(client, names, close)
    close()
    const cluster = await GlideClusterClient.createClient(options)
    return opened(cluster, names, () => cluster.close())
  },
}

async function opened(client: RedisClient, names: Names, close: () => void): Promise<Opened> {
  const { redisStore } = await import('../redis.js')
  const store = await orClosed(close, () => redisStore(client, names))
  return { store, close }
}

/** Returns whether the server belongs to a cluster. A user who may not ask could not use the store either. */
async function inCluster(info: () => Promise<unknown>): Promise<boolean> {
  return /^cluster_enabled:1/m.test(String(await info()))
}

/**
 * Refuses a database with a name, for which ioredis would ask as NaN, and the server's error would end the
 * process. Refuses parameters, because each client reads others: `?db=1` would be a database for one of them.
 *
 * @throws RangeError
 */
function checkPath(url: StoreUrl): void {
  url.check('USER:PASSWORD@HOST:6379')
  url.parameters([])
  if (/^[0-9]*$/.test(new URL(url.text).pathname.slice(1))) return
  // The message omits the text, which may be the end of a password with a slash.
  throw rangeError(
    'ERR_OPTION_INVALID',
    `store has a database that is not a number; write ${url.scheme}//HOST:PORT/0`,
    'store',
  )
}

/** Returns the parts of a URL, for clients that take no URL. */
function partsOf(url: StoreUrl) {
  const { hostname, port, username, password, pathname } = new URL(url.text)
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 6379),
    database: Number(pathname.slice(1) || 0),
    tls: url.scheme === 'rediss:',
    credentials: {
      ...(username !== '' && { username: decoded(username) }),
      ...(password !== '' && { password: decoded(password) }),
    },
  }
}

export const redisKind: StoreKind = {
  schemes: ['redis:', 'rediss:'],
  named: 'prefix',
  clients: [ioredis, nodeRedis, glide],
}
