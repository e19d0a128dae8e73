import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type FoundGroup, forgetNode, groupsIn } from '../../src/cli/lease-records.js'
import { createGenerator, defineLayout, layouts } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { memoryStore, type Store } from '../../src/stores/index.js'
import { callsOf } from '../stores/real-time.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { graupelIn, groupIn, sqliteFleet } from './fleet.ts'

const hourMs = 3_600_000

/** Runs `graupel lease`, which has to succeed, and returns its lines. */
async function leaseOf({ folder, words }: Awaited<ReturnType<typeof sqliteFleet>>, ...more: string[]) {
  const { status, stdout, stderr } = await graupelIn(folder, ['lease', ...more, ...words])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1)
}

/** Runs `graupel lease`, which has to fail, and returns its message. */
async function failureOf({ folder, words }: Awaited<ReturnType<typeof sqliteFleet>>, ...more: string[]) {
  const { status, stdout, stderr } = await graupelIn(folder, ['lease', ...more, ...words])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
  return stderr
}

describe('graupel lease list', () => {
  it('shows the holder of each node, its time, and the records that cannot be read', async () => {
    const fleet = await sqliteFleet()
    const { name, lease, put } = await groupIn(fleet.store, layouts.twitter, 'orders')
    await lease(3, 600_500, { owner: 'web-1/12\x1b[31m' })
    await lease(10, 300_500)
    await lease(12, -hourMs)
    await lease(11, -1000, { isReleased: true, windowMs: 900 })
    await put(20, '{"broken')
    await put(21, '{"format":2}')
    await put('x', '{}')
    const [title, ids, place, head, ...rows] = await leaseOf(fleet, 'list')
    const sum = rows.pop()
    expect(title).toBe(name)
    expect(ids).toMatch(/epoch 1288834974657, tick 1 ms; namespace orders$/)
    expect(place).toBe(`in sqlite: file ${fleet.file}, table graupel_store`)
    expect(head).toMatch(/^ +node +state +until +window +owner$/)
    const time = '\\d{4}-\\d\\d-\\d\\dT\\S+Z'
    expect(rows).toEqual([
      expect.stringMatching(`^ +3  held +${time}, in (10|9) minutes +6 s  web-1/12\\\\u001b\\[31m$`),
      expect.stringMatching(`^ +10  held +${time}, in (5|4) minutes +6 s  host/10$`),
      expect.stringMatching(`^ +11  released +${time}, \\d+ \\w+ ago +0.9 s  host/11$`),
      expect.stringMatching(`^ +12  expired +${time}, 1 hour ago +6 s  host/12$`),
      expect.stringMatching(/^ +20 {2}damaged +ERR_STATE_CORRUPT$/),
      expect.stringMatching(/^ +21 {2}foreign +ERR_STATE_MISMATCH$/),
      expect.stringMatching(/^ +x {2}foreign +ERR_STATE_MISMATCH$/),
    ])
    const counts = '2 of 1,024 nodes held, 1 expired, 1 released, 1 damaged, 2 foreign'
    const first = `the first that is held ends at ${time}, in (5|4) minutes, unless it is renewed`
    expect(sum).toMatch(new RegExp(`^${counts}; ${first}$`))
  })

  it('prints a JSON object a line, for the group and for each node', async () => {
    const fleet = await sqliteFleet()
    const { name, group, lease, put } = await groupIn(fleet.store, layouts.twitter, 'orders')
    const { floor, ceiling } = await lease(3, hourMs)
    await put(20, '{"broken')
    const [first, held, damaged, ...rest] = (await leaseOf(fleet, 'list', '--json')).map((line) => JSON.parse(line))
    const untilMs = group.timeOf(ceiling)
    const until = new Date(untilMs).toISOString()
    const counts = { nodes: 1024, held: 1, expired: 0, released: 0, damaged: 1, foreign: 0, nextFreeAt: until }
    const place = `sqlite: file ${fleet.file}, table graupel_store`
    const of = { namespace: 'orders', place, ids: group.ids, epochMs: layouts.twitter.epochMs, tickMs: 1 }
    expect(first).toEqual({ kind: 'group', group: name, ...of, ...counts, storeTime: expect.any(String) })
    expect(Math.abs(Date.parse(first.storeTime) - Date.now())).toBeLessThan(60_000)
    const remainingMs = untilMs - Date.parse(first.storeTime)
    const record = { owner: 'host/3', until, untilMs, remainingMs, windowMs: 6000, floor, ceiling }
    expect(held).toEqual({ kind: 'node', group: name, node: 3, state: 'held', ...record })
    expect(damaged).toMatchObject({ node: 20, state: 'damaged', error: { code: 'ERR_STATE_CORRUPT' } })
    expect(rest).toEqual([])
  })

  it('goes through all shards, in the order of nodes', async () => {
    const fleet = await sqliteFleet()
    const { lease } = await groupIn(fleet.store, layouts.sonyflake, 'devices')
    const nodes = [0, 1023, 1024, 9000, 30_000, 65_535]
    for (const node of nodes.toReversed()) await lease(node, hourMs)
    const lines = (await leaseOf(fleet, 'list', '--json')).map((line) => JSON.parse(line))
    expect(lines[0]).toMatchObject({ nodes: 65_536, held: 6 })
    expect(lines.slice(1).map(({ node }) => node)).toEqual(nodes)
  })

  it('shows one group, by its name or its namespace', async () => {
    const fleet = await sqliteFleet()
    const orders = await groupIn(fleet.store, layouts.twitter, 'orders')
    const users = await groupIn(fleet.store, layouts.twitter, 'users')
    const others = await groupIn(fleet.store, layouts.sonyflake, 'users')
    const names = async (...words: string[]) => {
      const lines = await leaseOf(fleet, 'list', '--json', ...words)
      return lines.map((line) => JSON.parse(line).group).sort()
    }
    expect(await names()).toEqual([orders.name, others.name, users.name].sort())
    expect(await names('orders')).toEqual([orders.name])
    expect(await names(users.name)).toEqual([users.name])
    expect(await names('users')).toEqual([others.name, users.name].sort())
    expect(await failureOf(fleet, 'list', 'user')).toMatch(
      /there is no group 'user' in sqlite:.*; the groups are: .*orders-\w+.* \(ERR_OPTION_INVALID\)$/m,
    )
  })

  it('goes on after a group whose record cannot be read', async () => {
    const fleet = await sqliteFleet()
    await fleet.store.write('groups/aaa', '{"format":1,"ids":"x","nodes":"many"}', undefined)
    await fleet.store.write('groups/bbb', 'none', undefined)
    const { name } = await groupIn(fleet.store, layouts.twitter, 'orders')
    const lines = await leaseOf(fleet, 'list')
    expect(lines.filter((line) => /^(aaa|bbb|orders-\w+)$/.test(line))).toEqual(['aaa', 'bbb', name])
    expect(lines.filter((line) => line.endsWith('(ERR_STATE_CORRUPT)'))).toHaveLength(2)
    const [first] = (await leaseOf(fleet, 'list', '--json')).map((line) => JSON.parse(line))
    expect(first).toMatchObject({ kind: 'group', group: 'aaa', error: { code: 'ERR_STATE_CORRUPT' } })
    expect(await failureOf(fleet, 'forget', 'aaa', '1', '--yes', '--damaged')).toMatch(/nodes is 'many'.*CORRUPT/)
  })

  it('says that a store has no leases, and creates nothing in it', async () => {
    const fleet = await sqliteFleet()
    expect(await leaseOf(fleet, 'list')).toEqual([
      `There is no lease in sqlite: file ${fleet.file}, table graupel_store: no process has had a node by it.`,
    ])
    expect(await leaseOf(fleet, 'list', '--json')).toEqual([])
    const { folder } = fleet
    const none = join(folder, 'none.db')
    expect(await failureOf({ ...fleet, words: ['--store', 'sqlite:none.db'] }, 'list')).toBe(
      `graupel: sqlite:none.db cannot be opened: there is no such file (ERR_STORE_UNAVAILABLE)\n`,
    )
    expect(existsSync(none)).toBe(false)
    expect(await failureOf({ ...fleet, words: [...fleet.words, '--table', 'other'] }, 'list')).toMatch(
      /has no table other: no process has had a node by it \(ERR_STORE_UNAVAILABLE\)/,
    )
    writeFileSync(none, 'no database, and longer than the head of one is, which has a hundred bytes'.repeat(9))
    expect(await failureOf({ ...fleet, words: ['--store', `sqlite://${none}`] }, 'list')).toMatch(/not a database/)
  })
})

describe('graupel lease forget', () => {
  it('takes a node from its holder by another token, and changes nothing else', async () => {
    const fleet = await sqliteFleet()
    const { name, group, lease, record } = await groupIn(fleet.store, layouts.twitter, 'orders')
    const before = await lease(7, hourMs)
    const other = await lease(8, hourMs)
    const groupBefore = await fleet.store.read(group.key)
    const until = new Date(group.timeOf(before.ceiling)).toISOString()
    expect(await failureOf(fleet, 'forget', 'orders', '7')).toBe(
      `graupel: node 7 of ${name} is held by host/7 until ${until}; give --yes if that process is gone for good, or wait until then (ERR_OPTION_INVALID)\n`,
    )
    expect(await record(7)).toEqual({ format: 1, ids: group.ids, ...before })
    const [line] = await leaseOf(fleet, 'forget', 'orders', '7', '--yes')
    expect(line).toMatch(`Forgotten: node 7 of ${name}, which host/7 had. Its next holder makes ids from ${until}, in `)
    const after = await record(7)
    expect(after).toEqual({
      ...{ format: 1, ids: group.ids, ...before, until, owner: 'host/7, forgotten' },
      token: expect.stringMatching(/^[0-9a-f-]{36}$/),
      attempt: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    expect(await record(8)).toEqual({ format: 1, ids: group.ids, ...other })
    expect(await fleet.store.read(group.key)).toEqual(groupBefore)

    expect(await failureOf(fleet, 'forget', 'orders', '7')).toMatch('is held by host/7, forgotten until')
    expect(await record(7)).toEqual(after)
  })

  it('needs no flag for an expired node', async () => {
    const fleet = await sqliteFleet()
    const { name, lease, record } = await groupIn(fleet.store, layouts.twitter, 'orders')
    const { ceiling } = await lease(7, -1000)
    const [line] = await leaseOf(fleet, 'forget', 'orders', '7', '--json')
    expect(JSON.parse(line as string)).toMatchObject({
      how: 'forgotten',
      group: name,
      node: 7,
      state: 'released',
      ceiling,
    })
    expect(await record(7)).toMatchObject({ isReleased: true, ceiling })
  })

  it('replaces a damaged record only if --damaged is given, an hour ahead, and never a foreign record', async () => {
    const fleet = await sqliteFleet()
    const { group, put, record } = await groupIn(fleet.store, layouts.twitter, 'orders')
    await put(7, '{"format":1')
    await put(8, '{"format":2}')
    expect(await failureOf(fleet, 'forget', 'orders', '7', '--yes')).toMatch(
      /forget GROUP NODE --damaged.*\(ERR_STATE_CORRUPT\)/,
    )
    expect((await fleet.store.read(group.keyOf(7)))?.value).toBe('{"format":1')
    const beforeMs = Date.now()
    const [line] = await leaseOf(fleet, 'forget', 'orders', '7', '--damaged')
    expect(line).toMatch(/^Replaced the damaged record of node 7 .*Z, in (1 hour|59 minutes)\.$/)
    const { floor, ceiling, ...rest } = await record(7)
    expect(rest).toMatchObject({ ids: group.ids, isReleased: true, windowMs: hourMs })
    expect(floor).toBe(ceiling)
    expect(group.timeOf(ceiling)).toBeGreaterThan(beforeMs + hourMs)
    expect(group.timeOf(ceiling)).toBeLessThanOrEqual(Date.now() + hourMs + 1)

    expect(await failureOf(fleet, 'forget', 'orders', '8', '--damaged', '--yes')).toMatch(/\(ERR_STATE_MISMATCH\)/)
    expect((await fleet.store.read(group.keyOf(8)))?.value).toBe('{"format":2}')
  })

  it('takes the node from a running holder, which goes on with larger ids', async () => {
    const fleet = await sqliteFleet()
    const layout = defineLayout({
      ...layouts.twitter,
      name: 'pair',
      fields: [
        ['timestamp', 41],
        ['worker', 1],
        ['sequence', 12],
      ],
    })
    const namespace = freshNamespace()
    const lease = await acquireLease({ store: fleet.store, layout, namespace, windowMs: 2000 })
    const ids = createGenerator({ lease })
    const made = ids.take(100)
    await leaseOf(fleet, 'forget', namespace, String(lease.node), '--yes')
    await until(() => lease.stats().acquisitions === 2)
    made.push(...ids.take(100))
    expect(isAscending(made)).toBe(true)
    expect(lease.signal.aborted).toBe(false)
    await lease.release()
  })

  it('tries again if the holder renews meanwhile, and stops if another process has taken the node', async () => {
    const inner = memoryStore()
    const { lease, record, put, group } = await groupIn(inner, layouts.twitter, 'orders')
    let changes: object[] = []
    /** Another process writes immediately before each write, which takes time, as over a network. */
    const store: Store = {
      ...inner,
      async write(key, value, expected, signal) {
        const change = changes.shift()
        if (change !== undefined) await put(7, JSON.stringify({ ...(await record(7)), ...change }))
        await sleep(5)
        return inner.write(key, value, expected, signal)
      },
    }
    const calls = callsOf(store, 1000)
    const [found] = (await groupsIn(calls)) as [FoundGroup]
    const forget = () => forgetNode(calls, found, 7, { held: true, damaged: false })

    const { ceiling } = await lease(7, hourMs)
    changes = [
      { attempt: 'a', ceiling: ceiling + 1 },
      { attempt: 'b', ceiling: ceiling + 2 },
    ]
    await forget()
    expect(await record(7)).toMatchObject({ owner: expect.stringMatching(/, forgotten$/), ceiling: ceiling + 2 })

    await lease(7, hourMs)
    changes = [{ token: 'thief', owner: 'thief' }]
    await expect(forget()).rejects.toMatchObject({
      message: expect.stringContaining('thief has taken node 7 meanwhile'),
    })
    expect(await record(7)).toMatchObject({ isReleased: false, token: 'thief' })

    await lease(7, hourMs)
    changes = Array.from({ length: 20 }, (_, i) => ({ attempt: `${i}` }))
    await expect(forget()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(await record(7)).toMatchObject({ isReleased: false })
    expect(group.keyOf(7)).toContain('/0/7')
  })

  it.each<[string[], RegExp]>([
    [['orders', '9'], /no process has had node 9 of orders-\w+; see graupel lease list \(ERR_NODE_INVALID\)/],
    [['orders', '1024'], /the node is 1024; orders-\w+ has the nodes 0 to 1023 \(ERR_NODE_INVALID\)/],
    [['orders', '0x7'], /the node is '0x7'; give a whole number .*\(ERR_NODE_INVALID\)/],
    [['users', '7'], /the namespace 'users' has 2 groups; give one of users-\w+, users-\w+ \(ERR_OPTION_INVALID\)/],
    [['orders'], /lease forget takes a group and a node/],
    [['orders', '7', '8'], /lease forget takes a group and a node/],
  ])('refuses %j', async (words, message) => {
    const fleet = await sqliteFleet()
    await groupIn(fleet.store, layouts.twitter, 'orders')
    await groupIn(fleet.store, layouts.twitter, 'users')
    await groupIn(fleet.store, layouts.discord, 'users')
    expect(await failureOf(fleet, 'forget', ...words)).toMatch(message)
  })
})
