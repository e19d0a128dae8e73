import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { leafAllocStore } from '../../src/stores/leaf-alloc.js'

// Segments of Leaf's table and the answers of a client, without a database.

const idle = { affectedRows: 0, insertId: 0, serverStatus: 2 }
const within = { affectedRows: 1, insertId: 0, serverStatus: 3 }
const fine = ['1', '0', '0']

/** The server's answers to the statements, in the order of the statements. */
const answers = {
  table: [[...fine, 'leaf_alloc', 'InnoDB', 'YES', 'bigint', 'graupel']] as unknown,
  idle: idle as unknown,
  begin: within as unknown,
  update: within as unknown,
  select: [[...fine, 'orders', '3001', '1000']] as unknown,
  commit: idle as unknown,
}
type Step = keyof typeof answers
const steps = Object.keys(answers) as Step[]
const inTransaction = steps.slice(2)

const statements: [Step, RegExp][] = [
  ['table', /information_schema/],
  ['idle', /^DO 0$/],
  ['begin', /^START TRANSACTION$/],
  ['update', /^UPDATE/],
  ['select', /^SELECT/],
  ['commit', /^COMMIT/],
]
const stepOf = (sql: string) => statements.find(([, text]) => text.test(sql))?.[0] as Step

const never = () => new Promise<never>(() => {})
const failed = (errno: number) => Object.assign(new Error(`number ${errno}`), { errno })

/**
 * Makes a pool that answers like a server, and records the end of each connection. A connection knows whether
 * its transaction is open.
 *
 * @param others - Replaced answers. A function is called. Each statement throws the next error of its array
 * in `failures`.
 */
function poolOf(others: Partial<typeof answers> & { failures?: Partial<Record<Step, Error[]>> } = {}, own = {}) {
  const asked: string[] = []
  const ends: string[] = []
  const pool = {
    asked,
    ends,
    steps: () => asked.map(stepOf),
    async getConnection() {
      let isOpen = false
      let isClosed = false
      const connection = {
        // mariadb keeps the status here; mysql2 puts it into the answer.
        info: null as { status: number } | null,
        async query({ sql }: { sql: string }) {
          if (isClosed) throw new Error('the connection is closed')
          asked.push(sql)
          const step = stepOf(sql)
          const failure = others.failures?.[step]?.shift()
          if (failure !== undefined) throw failure
          const answer = { ...answers, ...others }[step]
          const found = typeof answer === 'function' ? await answer() : answer
          if (step === 'begin') isOpen = true
          if (step === 'commit') isOpen = false
          if (!('batch' in own)) return [found]
          connection.info = { status: Object(found).serverStatus }
          return found
        },
        release() {
          ends.push(isOpen ? 'released with its transaction open' : 'released')
        },
        destroy() {
          isClosed = true
          ends.push('closed')
        },
      }
      return connection
    },
    execute() {},
    ...own,
  }
  return pool
}

/** The check of the table uses another connection. */
const lookedUp = 'released'

describe('leafAllocStore', () => {
  it("takes a segment by Leaf's statements, in one transaction", async () => {
    const pool = poolOf()
    const store = leafAllocStore(pool)
    expect(store.name).toBe('leaf_alloc')
    expect(await store.takeSegment('orders')).toEqual({ first: 2001n, count: 1000 })
    expect(pool.steps()).toEqual(steps)
    // The index finds the row, and the bytes decide, because a collation takes other keys for equal.
    expect(pool.asked[3]).toBe(
      "UPDATE `graupel`.`leaf_alloc` SET max_id = max_id + step WHERE biz_tag = _utf8mb4 X'6f7264657273' AND CAST(CONVERT(biz_tag USING utf8mb4) AS BINARY) = X'6f7264657273'",
    )
    expect(pool.ends).toEqual([lookedUp, 'released'])
  })

  it('takes as many numbers as requested, and checks the table once', async () => {
    const pool = poolOf({ select: [[...fine, 'orders', '5000000000', '1000']] })
    const store = leafAllocStore(pool, { table: 'Other_1' })
    await store.takeSegment('orders', 7)
    expect(await store.takeSegment("o'; DROP", 2 ** 31)).toMatchObject({ count: 2 ** 31 })
    expect(pool.asked[3]).toMatch(/^UPDATE `graupel`\.`Other_1` SET max_id = max_id \+ 7 WHERE/)
    expect(pool.asked[8]).toContain(`max_id + 2147483648 WHERE biz_tag = _utf8mb4 X'6f273b2044524f50'`)
    expect(pool.steps().filter((step) => step === 'table')).toHaveLength(1)
  })

  it('stays in the database that its first call has found', async () => {
    const pool = poolOf({ table: [[...fine, 'leaf_alloc', 'InnoDB', 'YES', 'bigint', 'my `one']] })
    const store = leafAllocStore(pool)
    for (let i = 0; i < 2; i++) await store.takeSegment('orders')
    const ofTable = pool.asked.filter((sql) => ['update', 'select'].includes(stepOf(sql)))
    expect(ofTable).toHaveLength(4)
    for (const sql of ofTable) expect(sql).toMatch(/(UPDATE|LEFT JOIN) `my ``one`\.`leaf_alloc` /)
  })

  it('is exact beyond 2^53, up to the last number', async () => {
    const take = (maxId: bigint, step = 1000) =>
      leafAllocStore(poolOf({ select: [[...fine, 'orders', `${maxId}`, `${step}`]] })).takeSegment('orders')
    expect(await take(2n ** 60n + 1n)).toEqual({ first: 2n ** 60n - 999n, count: 1000 })
    expect(await take(2n ** 63n)).toEqual({ first: 2n ** 63n - 1000n, count: 1000 })
    expect(await take(1000n)).toEqual({ first: 0n, count: 1000 })
    await expect(take(2n ** 63n + 1n)).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
  })

  it.each([
    ['a deadlock', 1213],
    ['a record that was changed since the snapshot', 1020],
  ])('begins anew after %s, whatever it interrupts', async (_name, errno) => {
    for (const step of steps) {
      const pool = poolOf({ failures: { [step]: [failed(errno), failed(errno)] } })
      expect(await leafAllocStore(pool).takeSegment('orders')).toEqual({ first: 2001n, count: 1000 })
      expect(pool.steps().filter((found) => found === step)).toHaveLength(3)
      const isWithin = inTransaction.includes(step)
      expect(pool.ends.filter((end) => end === 'closed')).toHaveLength(isWithin ? 2 : 0)
    }
  })

  it.each<[string, string | null, RegExp]>([
    ['max_id', '1000', /has no max_id for the biz_tag 'orders'; set max_id/],
    ['max_id and step', null, /has the step null for the biz_tag 'orders'; set a step/],
  ])('names what is empty in the row, and takes nothing: %s', async (_, step, message) => {
    const pool = poolOf({ select: [[...fine, 'orders', null, step]] })
    const taken = leafAllocStore(pool).takeSegment('orders')
    await expect(taken).rejects.toMatchObject({ code: 'ERR_STORE_INVALID', message: expect.stringMatching(message) })
    expect(pool.steps()).not.toContain('commit')
  })

  it('takes no numbers of a row that came between its statements', async () => {
    const pool = poolOf({ update: { ...within, affectedRows: 0 } })
    await expect(leafAllocStore(pool).takeSegment('orders')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: "the table 'leaf_alloc' of Leaf got its row with the biz_tag 'orders' at this moment; try again",
    })
    expect(pool.steps()).not.toContain('commit')
  })

  it.each(inTransaction)('closes the connection if the client fails at %s, and takes nothing', async (step) => {
    const pool = poolOf({ failures: { [step]: [new Error('connection lost')] } })
    await expect(leafAllocStore(pool).takeSegment('orders')).rejects.toThrow('connection lost')
    expect(pool.ends).toEqual([lookedUp, 'closed'])
    expect(pool.steps().at(-1)).toBe(step)
  })

  it.each(inTransaction)('closes the connection of mysql2 if the call is aborted at %s', async (step) => {
    const pool = poolOf({ [step]: never })
    const aborting = new AbortController()
    const taking = leafAllocStore(pool).takeSegment('orders', undefined, aborting.signal)
    while (pool.steps().at(-1) !== step) await turn()
    aborting.abort(new Error('enough'))
    await expect(taking).rejects.toThrow('enough')
    expect(pool.ends).toEqual([lookedUp, 'closed'])
  })

  it.each(inTransaction)('lets mariadb answer if the call is aborted at %s, and sends nothing more', async (step) => {
    const waiting: { answer?: () => void } = {}
    const late = () => new Promise((resolve) => (waiting.answer = () => resolve(answers[step])))
    const pool = poolOf({ [step]: late }, { batch() {} })
    const aborting = new AbortController()
    const taking = leafAllocStore(pool).takeSegment('orders', undefined, aborting.signal)
    while (pool.steps().at(-1) !== step) await turn()
    aborting.abort(new Error('enough'))
    await expect(taking).rejects.toThrow('enough')
    expect(pool.ends).toEqual([lookedUp])
    waiting.answer?.()
    await turn()
    // A committed segment is skipped; an open transaction is rolled back.
    expect(pool.ends).toEqual([lookedUp, step === 'commit' ? 'released' : 'closed'])
    expect(pool.steps().at(-1)).toBe(step)
  })

  it('runs nothing if the signal is already aborted', async () => {
    const pool = poolOf()
    await expect(leafAllocStore(pool).takeSegment('orders', 1, AbortSignal.abort('no'))).rejects.toBe('no')
    expect(pool.asked).toEqual([])
  })

  it.each<[string, Partial<typeof answers>, string]>([
    ['another transaction was left open', { idle: within }, 'a transaction was left open'],
    ['autocommit is off', { idle: { ...idle, serverStatus: 0 } }, 'autocommit is off'],
    ['no transaction was begun', { begin: idle }, 'is not open'],
    ['the transaction has ended at the UPDATE', { update: idle }, 'is not open'],
    ['the transaction is open behind its COMMIT', { commit: within }, 'a transaction was left open'],
  ])('closes the connection if %s', async (_name, others, why) => {
    const pool = poolOf(others)
    await expect(leafAllocStore(pool).takeSegment('orders')).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringContaining(why),
    })
    expect(pool.ends).toEqual([lookedUp, 'closed'])
  })

  it.each<[string, Partial<typeof answers>, string, string]>([
    ['no row of the tag', { select: [[...fine, null, null, null]] }, 'ERR_OPTION_INVALID', 'INSERT INTO leaf_alloc'],
    ['two rows of it', { select: [fine, fine] }, 'ERR_STORE_INVALID', 'primary key'],
    ['a step of 0', { select: [[...fine, 'orders', '1', '0']] }, 'ERR_STORE_INVALID', 'the step 0'],
    ['a step below 0', { select: [[...fine, 'orders', '1', '-5']] }, 'ERR_STORE_INVALID', 'the step -5'],
    ['a negative number', { select: [[...fine, 'orders', '9', '10']] }, 'ERR_STORE_INVALID', 'the max_id -1'],
    ['a replica', { select: [['1', '1', '0', 'orders', '9', '1']] }, 'ERR_STORE_UNAVAILABLE', "'leaf_alloc' of Leaf"],
  ])('takes nothing if it finds %s', async (_name, others, code, text) => {
    const pool = poolOf(others)
    const taking = leafAllocStore(pool).takeSegment('orders')
    await expect(taking).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
    expect(pool.steps()).not.toContain('commit')
    expect(pool.ends).toEqual([lookedUp, 'closed'])
  })

  it.each<[string, (string | null)[], string, string]>([
    ['no table', [null, null, null, null], 'ERR_STORE_UNAVAILABLE', 'is not in the database'],
    ['a table without transactions', ['leaf_alloc', 'MyISAM', 'NO', 'bigint'], 'ERR_STORE_UNSAFE', 'ENGINE=InnoDB'],
    ['a view', ['leaf_alloc', null, null, 'bigint'], 'ERR_STORE_UNSAFE', 'no table of its own'],
    ['numbers that are too short', ['leaf_alloc', 'InnoDB', 'YES', 'int'], 'ERR_STORE_INVALID', 'MODIFY max_id BIGINT'],
  ])('changes nothing in %s', async (_name, table, code, text) => {
    const pool = poolOf({ table: [[...fine, ...table]] })
    const store = leafAllocStore(pool)
    for (let i = 0; i < 2; i++) {
      await expect(store.takeSegment('orders')).rejects.toMatchObject({ code, message: expect.stringContaining(text) })
    }
    expect(pool.steps()).toEqual(['table', 'table'])
    expect(pool.ends).toEqual(['released', 'released'])
  })

  it.each([
    [1264, 'ERR_SEGMENT_OVERFLOW'],
    [1690, 'ERR_SEGMENT_OVERFLOW'],
    [1146, 'ERR_STORE_UNAVAILABLE'],
    [1142, 'ERR_STORE_UNAVAILABLE'],
    [1290, 'ERR_STORE_UNAVAILABLE'],
  ])('says what to do about the error %i', async (errno, code) => {
    const cause = failed(errno)
    const pool = poolOf({ failures: { update: [cause] } })
    await expect(leafAllocStore(pool).takeSegment('orders')).rejects.toMatchObject({ code, cause })
  })

  it('rejects with the message of the client if a lock was not granted', async () => {
    const pool = poolOf({ failures: { update: [failed(1205)] } })
    await expect(leafAllocStore(pool).takeSegment('orders')).rejects.toThrow('number 1205')
    expect(pool.ends).toEqual([lookedUp, 'closed'])
  })

  it.each<[unknown, unknown]>([
    [undefined, 1],
    [7, 1],
    ['', 1],
    ['x'.repeat(129), 1],
    ['\ud800', 1],
    ['orders', '1'],
    ['orders', 0],
    ['orders', -1],
    ['orders', 1.5],
    ['orders', 2 ** 53],
  ])('refuses the tag %j with the count %j', async (tag, count) => {
    const pool = poolOf()
    const taking = leafAllocStore(pool).takeSegment(tag as string, count as number)
    await expect(taking).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    expect(pool.asked).toEqual([])
  })

  it.each<[unknown, unknown, string]>([
    [{}, {}, 'ERR_OPTION_INVALID'],
    [undefined, {}, 'ERR_OPTION_INVALID'],
    [poolOf(), null, 'ERR_OPTION_INVALID'],
    [poolOf(), { assumeDurable: true }, 'ERR_OPTION_UNKNOWN'],
    [poolOf(), { table: 'a-b' }, 'ERR_OPTION_INVALID'],
    [poolOf(), { table: 7 }, 'ERR_OPTION_INVALID'],
  ])('refuses the client %o with the options %j', (pool, options, code) => {
    expect(() => leafAllocStore(pool as never, options as never)).toThrow(expect.objectContaining({ code }))
  })
})
