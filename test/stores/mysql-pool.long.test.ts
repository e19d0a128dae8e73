import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type MysqlStoreOptions, mysqlStore } from '../../src/stores/mysql.js'
import { describeWith } from '../support/needs.ts'
import { mysqlPools, startMysql } from './kinds/mysql.ts'
import type { Admin } from './mysql-admin.ts'
import type { Server } from './servers.ts'

// A pool that a store shares with other code, which leaves transactions and settings on its connections.

type ClientName = keyof typeof mysqlPools

let server: Server
const pools: { end(): unknown }[] = []

/** Makes a pool of one connection. */
function poolOf(client: ClientName) {
  const options = { connectionLimit: 1, ...(client === 'mariadb' && { noControlAfterUse: true }) }
  const pool = mysqlPools[client](server.port, options)
  pools.push(pool)
  return pool
}

/** Makes a store, and a function that runs statements of the other code on its connection. */
function share(client: ClientName, options: MysqlStoreOptions = {}) {
  const pool = poolOf(client)
  const leave = async (statements: string) => {
    const connection = await (('promise' in pool ? pool.promise() : pool) as never as Admin).getConnection()
    for (const statement of statements.split('; ')) await connection.query(statement)
    await connection.release()
  }
  return { store: mysqlStore(pool, options), leave }
}

const unsafe = { code: 'ERR_STORE_UNSAFE' }
const freshKey = () => `folder/${crypto.randomUUID()}`

describeWith(['mysql'], 'MySQL with a shared pool', () => {
  beforeAll(async () => {
    server = await startMysql()
    const admin = mysqlPools.mysql2(server.port)
    await mysqlStore(admin).setup()
    for (const statement of [
      'CREATE DATABASE `my ``other`',
      'CREATE TABLE `my ``other`.graupel_store LIKE graupel.graupel_store',
    ])
      await (admin as never as Admin).query(statement)
    await admin.end()
  })
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.end()
  })
  afterAll(() => server?.stop())

  describe.each(Object.keys(mysqlPools) as ClientName[])('by %s', (client) => {
    it.each(['USE `my ``other`', 'USE information_schema'])('stays in its database after %s', async (left) => {
      const { store, leave } = share(client)
      const key = freshKey()
      const version = (await store.write(key, 'first', undefined)) as string
      await leave(left)
      expect((await store.read(key))?.version).toBe(version)
      expect(await store.list('folder/')).toContainEqual({ key, value: 'first', version })
      expect(await store.write(key, 'second', version)).toBeDefined()
      expect(await store.add?.(key, 3n)).toBe(3n)
      expect((await mysqlStore(poolOf('mysql2')).read(key))?.value).toBe('second')
      expect(await store.place?.()).toContain('database graupel,')
    })

    it('makes no table on a connection with an open transaction, which that would commit', async () => {
      const { store, leave } = share(client, { table: `made_${client.replace(' ', '_')}` })
      const key = freshKey()
      await leave(`BEGIN; INSERT INTO graupel_store VALUES ('${key}', 'x', 'y')`)
      await expect(store.setup()).rejects.toMatchObject(unsafe)
      // The store has closed the connection, which rolls the transaction back.
      expect(await mysqlStore(poolOf('mysql2')).read(key)).toBeUndefined()
      await store.setup()
      expect(await store.read(key)).toBeUndefined()
    })

    it.each([26, -26, 3600])('does not take a time that SET timestamp has set %i s ahead for its clock', async (s) => {
      const { store, leave } = share(client)
      await store.nowMs?.()
      await leave(`SET timestamp = UNIX_TIMESTAMP() + ${s}`)
      await expect(store.nowMs?.()).rejects.toMatchObject(unsafe)
      // The store has closed the connection.
      expect(Math.abs(((await store.nowMs?.()) as number) - Date.now())).toBeLessThan(20_000)
    })

    it('refuses to write in a distributed transaction that was left open', async () => {
      const { store, leave } = share(client)
      const key = freshKey()
      const version = (await store.write(key, 'first', undefined)) as string
      await leave("XA START 'x'")
      await expect(store.write(key, 'second', version)).rejects.toMatchObject(unsafe)
      expect((await store.read(key))?.version).toBe(version)
    })

    it.each([
      "SET time_zone = '+05:30'; SET NAMES latin1; SET character_set_results = NULL",
      'SET foreign_key_checks = 0; SET unique_checks = 0; SET sql_safe_updates = 1; SET sql_select_limit = 1',
      'SET completion_type = 1; SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SET div_precision_increment = 0',
      'SET insert_id = 7; SET last_insert_id = 9; SET lc_time_names = "de_DE"; SET old_mode = ""',
    ])('is not affected by %s', async (left) => {
      const { store, leave } = share(client)
      const life = await store.incarnation?.()
      await leave(left)
      const key = freshKey()
      const version = (await store.write(key, '語', undefined)) as string
      expect(await store.read(key)).toEqual({ key, value: '語', version })
      expect(await store.write(key, 'second', version)).toBeDefined()
      expect(await store.add?.(key, 5n)).toBe(5n)
      expect(await store.incarnation?.()).toBe(life)
      expect(Math.abs(((await store.nowMs?.()) as number) - Date.now())).toBeLessThan(20_000)
    })

    it.each(['SET SESSION TRANSACTION READ ONLY', 'SET sql_select_limit = 0'])(
      'fails, and does not take an error for a conflict or for no record, after %s',
      async (left) => {
        const { store, leave } = share(client)
        const key = freshKey()
        const version = (await store.write(key, 'first', undefined)) as string
        await leave(left)
        const call = left.includes('limit') ? store.read(key) : store.write(key, 'second', version)
        await expect(call).rejects.toThrow()
      },
    )
  })
})
