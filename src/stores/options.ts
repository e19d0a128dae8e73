import { rangeError, show, showNoText, typeError } from '../core/errors.js'
import type { Row } from '../core/options.js'
import { checkString, milliseconds } from '../core/readers.js'
import type { Store } from './store.js'

/**
 * Reads a text that can be the name of a table, or a prefix of keys. @throws TypeError, RangeError
 * `ERR_OPTION_INVALID`
 */
function nameInStore(option: string, value: unknown): string {
  checkString(option, value)
  // The name becomes a part of SQL and of Lua. Only these characters need no quotes there.
  if (/^[A-Za-z_][A-Za-z0-9_]{0,47}$/.test(value)) return value
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${option} is ${show(value)}; pass 1 to 48 letters, digits and underscores that begin with no digit`,
    option,
  )
}

// Rows that several tables have.
export const callTimeoutRow = { read: milliseconds, least: 1, most: 600_000, byDefault: 2000 } satisfies Row
export const prefixRow = { read: nameInStore, byDefault: 'graupel' } satisfies Row
export const tableRow = { read: nameInStore, byDefault: 'graupel_store' } satisfies Row
export const leafTableRow = { read: nameInStore, byDefault: 'leaf_alloc' } satisfies Row

/** Refuses `assumeDurable: false`. @throws RangeError `ERR_OPTION_INVALID` */
export function refuseForgetting(store: string, assumeDurable: boolean | undefined): void {
  if (assumeDurable !== false) return
  throw rangeError(
    'ERR_OPTION_INVALID',
    `assumeDurable is false; leave it out: stores in ${store} have no incarnation, so leases cannot notice lost writes`,
  )
}

/** Makes the error of a client that the store cannot use. */
export function clientError(store: string, client: unknown, clients: string): TypeError {
  return typeError('ERR_OPTION_INVALID', `the client of ${store} is ${showNoText(client)}; pass ${clients}`)
}

interface Emitter {
  listenerCount(event: 'error'): number
  on(event: 'error', listener: () => void): unknown
}

/**
 * Listens to the event `error` of a client if no other code does. Clients of pg, mariadb and node-redis emit
 * it if a connection breaks between two calls, and Node then ends a process in which nobody listens. The
 * client connects again, and a call that fails has the error, too.
 */
export function outliveErrors(client: unknown): void {
  const emitter = client as Partial<Emitter>
  if (typeof emitter.on === 'function' && emitter.listenerCount?.('error') === 0) emitter.on('error', () => {})
}

/**
 * The calls that make stores of clients, each by a method that its clients have. The first method that is
 * there counts.
 */
const wrappers: readonly (readonly [method: string, call: string, entry: string])[] = [
  ['getConnection', 'mysqlStore(pool)', 'mysql'],
  ['unsafe', 'postgresStore(sql)', 'postgres'],
  // Before `query`, which clients of DynamoDB have, too.
  ['putItem', 'dynamodbStore(client)', 'dynamodb'],
  ['transactWrite', 'dynamodbStore(client)', 'dynamodb'],
  ['query', 'postgresStore(pool)', 'postgres'],
  ['createCollection', 'mongodbStore(database)', 'mongodb'],
  ['prepare', 'sqliteStore(database)', 'sqlite'],
  ['sendCommand', 'redisStore(client)', 'redis'],
  ['customCommand', 'redisStore(client)', 'redis'],
  ['putObject', 'objectStore({ client, bucket })', 'object'],
  ['getBlockBlobClient', 'objectStore({ client })', 'object'],
  ['getFiles', 'objectStore({ client })', 'object'],
]

/** Reads the option `store`. @throws TypeError `ERR_OPTION_INVALID` */
export function storeOfUser(_: string, store: unknown): Store {
  const of = store as Partial<Record<keyof Store, unknown>> | null | undefined
  const client = Object(store) as Record<string, unknown>
  const wrapper = wrappers.find(([method]) => typeof client[method] === 'function')
  if (wrapper !== undefined && typeof client['write'] !== 'function') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `store is the client of a database; wrap it: store: ${wrapper[1]}, from graupel/stores/${wrapper[2]}`,
      'store',
    )
  }
  if (typeof of !== 'object' || of === null) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `store is ${showNoText(store)}; pass the result of a function of graupel/stores, or openStore(url)`,
      'store',
    )
  }
  const rules: [keyof Store, string, boolean][] = [
    ['name', 'string', true],
    ['durable', 'boolean', true],
    ['read', 'function', true],
    ['list', 'function', true],
    ['write', 'function', true],
    ['nowMs', 'function', of.durable === false],
    ['incarnation', 'function', of.durable === false],
    ['place', 'function', false],
    ['advice', 'function', false],
    ['add', 'function', false],
    ['remove', 'function', false],
  ]
  for (const [name, type, isRequired] of rules) {
    const value = of[name]
    if (value === undefined && !isRequired) continue
    if (typeof value !== type) {
      const why = isRequired && (name === 'incarnation' || name === 'nowMs') ? ', because it is not durable' : ''
      throw typeError('ERR_OPTION_INVALID', `${name} of the store is ${show(value)}; a store has a ${type} there${why}`)
    }
  }
  return store as Store
}
