import { describe, expect, it } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql.js'

// The store in MySQL and the answers of a client, without a database.

const committed = 2
const ok = { affectedRows: 1, insertId: 0, serverStatus: committed }

/** Makes a pool of mysql2 that gives these answers, and records the end of each connection. */
function poolOf(...answers: unknown[]) {
  const ends: string[] = []
  const asked: string[] = []
  // The store asks for its database once. This call is not among the answers.
  let isForDatabase = false
  const connection = {
    async query({ sql }: { sql: string }) {
      isForDatabase = sql.endsWith('DATABASE()')
      if (isForDatabase) return [[['1', '0', '0', 'graupel']]]
      asked.push(sql)
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return [answer]
    },
    release: () => isForDatabase || ends.push('released'),
    destroy: () => ends.push('closed'),
  }
  return { ends, asked, getConnection: async () => connection, execute() {} }
}

const failed = (errno: number) => Object.assign(new Error(`number ${errno}`), { errno })

describe('mysqlStore', () => {
  it.each([1213, 1020])('runs a statement again that was rolled back by %i', async (errno) => {
    const pool = poolOf(failed(errno), failed(errno), ok)
    expect(await mysqlStore(pool).write('a/1', 'x', 'version')).toMatch(/^[-0-9a-f]{36}$/)
    expect(new Set(pool.asked).size).toBe(1)
    expect(pool.ends).toEqual(['released', 'released', 'released'])
  })

  it('rejects with the message of the client if a lock was not granted, because that is no conflict', async () => {
    await expect(mysqlStore(poolOf(failed(1205))).write('a/1', 'x', 'version')).rejects.toThrow('number 1205')
  })

  it.each([
    [0, 'autocommit is off'],
    [3, 'a transaction was left open'],
    [1, 'autocommit is off'],
  ])('closes a connection whose status is %i, because %s', async (serverStatus, why) => {
    const pool = poolOf({ ...ok, serverStatus })
    await expect(mysqlStore(pool).write('a/1', 'x', 'version')).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining(why),
    })
    expect(pool.ends).toEqual(['closed'])
  })

  it('rejects the write of a client that does not return the status', async () => {
    const pool = poolOf({ affectedRows: 1, insertId: 0 })
    await expect(mysqlStore(pool).write('a/1', 'x', 'version')).rejects.toThrow("without the server's status")
    expect(pool.ends).toEqual(['closed'])
  })

  it.each([
    [['ON', 'OFF', 'OFF'], undefined],
    [['0', '0', '0'], 'ERR_STORE_UNSAFE'],
    [['OFF', 'OFF', 'OFF'], 'ERR_STORE_UNSAFE'],
    [['1', '1', '0'], 'ERR_STORE_UNAVAILABLE'],
    [['1', 'NO_LOCK', '0'], 'ERR_STORE_UNAVAILABLE'],
    [['1', '0', '1'], 'ERR_STORE_UNAVAILABLE'],
  ])('reads from a server that says %j with %s', async (state, code) => {
    const store = mysqlStore(poolOf([[...state, 'a/1', 'value', 'version']]))
    if (code === undefined) return expect(await store.read('a/1')).toMatchObject({ key: 'a/1', value: 'value' })
    await expect(store.read('a/1')).rejects.toMatchObject({ code })
  })

  it.each([1146, 1142])('makes tables if the look for them fails with error %i', async (errno) => {
    const pool = poolOf(failed(errno), ok, ok, failed(errno), ok, ok)
    await mysqlStore(pool).setup()
    const made = ['DO 0', expect.stringMatching(/^CREATE TABLE/)]
    expect(pool.asked).toEqual([expect.stringMatching(/^SELECT/), ...made, expect.stringMatching(/^SELECT/), ...made])
  })

  it.each<[string, unknown, string | undefined, RegExp]>([
    ['a server that is down', new Error('connect ECONNREFUSED'), undefined, /^connect ECONNREFUSED$/],
    ['a wrong password', failed(1045), 'ERR_STORE_UNAVAILABLE', /number 1045.*; set the right user and password/],
    ['a missing database', failed(1049), 'ERR_STORE_UNAVAILABLE', /number 1049.*; set the name of an existing/],
    ['a replica', [['1', '1', '0']], 'ERR_STORE_UNAVAILABLE', /is read-only/],
    ['no autocommit', [['0', '0', '0']], 'ERR_STORE_UNSAFE', /autocommit is off/],
  ])('does not take %s for a missing table', async (_, answer, code, message) => {
    const pool = poolOf(answer)
    const error = await mysqlStore(pool)
      .setup()
      .catch((error) => error)
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)])
    expect(pool.asked).toHaveLength(1)
  })

  it('makes no table on a connection with an open transaction, which that would commit', async () => {
    const pool = poolOf(failed(1146), { ...ok, serverStatus: 3 })
    await expect(mysqlStore(pool).setup()).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining('a transaction was left open'),
    })
    expect(pool.asked.at(-1)).toBe('DO 0')
    expect(pool.ends).toEqual(['released', 'closed'])
  })

  it('names the right to delete, which only remove needs', async () => {
    const removing = mysqlStore(poolOf(failed(1142))).remove?.('a/1', 'version')
    await expect(removing).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/; grant the user SELECT, INSERT and UPDATE on .*, and DELETE for remove$/),
    })
  })

  it('rejects a SELECT that returns no row', async () => {
    await expect(mysqlStore(poolOf([])).read('a/1')).rejects.toThrow('the client returned no row')
  })

  it('closes the connection if a call of mysql2 is aborted, and keeps it with mariadb', async () => {
    for (const [own, ends] of [
      [{}, ['closed']],
      [{ batch() {} }, []],
    ] as const) {
      const pool = { ...poolOf(), ...own }
      const connection = await pool.getConnection()
      connection.query = () => new Promise(() => {})
      const aborting = new AbortController()
      mysqlStore(pool).read('a/1', aborting.signal)
      await new Promise((resolve) => setImmediate(resolve))
      aborting.abort()
      expect(pool.ends).toEqual(ends)
    }
  })

  it('runs nothing if the call was aborted while it waited for a connection', async () => {
    const pool = poolOf(ok)
    const aborting = new AbortController()
    const writing = mysqlStore(pool).write('a/1', 'x', undefined, aborting.signal)
    aborting.abort(new Error('enough'))
    await expect(writing).rejects.toThrow('enough')
    expect([pool.asked, pool.ends]).toEqual([[], ['released']])
  })

  it.each([
    ['of mysql, without promises', { query() {}, getConnection() {} }],
    ['of clusters', { getConnection() {}, of() {} }],
  ])('refuses a pool %s', (_name, pool) => {
    expect(() => mysqlStore(pool as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })

  it('refuses a pool of mariadb/callback when it is first used', async () => {
    const pool = { getConnection() {}, execute() {}, batch() {} }
    await expect(mysqlStore(pool as never).read('a/1')).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })
})
