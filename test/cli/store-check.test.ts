import { describe, expect, it } from 'vitest'
import type { Check } from '../../src/cli/checks.js'
import { checkStore } from '../../src/cli/store-check.js'
import { platform } from '../../src/platform/node.js'
import { StoreCalls } from '../../src/stores/calls.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store, StoreEntry } from '../../src/stores/store.js'
import { startService } from '../server/support/in-process.ts'
import { graupel } from '../support/cli.js'
import { graupelIn, launch, sqliteFleet } from './fleet.ts'

/** Checks a store that has a defect, and returns the checks by name, and the records that are there then. */
async function checked(
  defect: (store: Store) => Partial<Store> = () => ({}),
  signal = new AbortController().signal,
  { callMs = 2000, ruleMs = 30_000 } = {},
) {
  const kept = new Map<string, StoreEntry>()
  const memory = memoryStore()
  const honest: Store = {
    ...memory,
    async write(key, value, expected, own) {
      const version = await memory.write(key, value, expected, own)
      if (version !== undefined) kept.set(key, { key, value, version })
      return version
    },
    async remove(key, expected, own) {
      const isRemoved = (await memory.remove?.(key, expected, own)) === true
      if (isRemoved) kept.delete(key)
      return isRemoved
    },
  }
  const store = { ...honest, ...defect(honest) }
  const calls = new StoreCalls(store, platform, callMs)
  const open = { store, calls, shown: 'memory', hide: String, damage: async () => [] }
  const written: Check[] = []
  const { checks, left } = await checkStore(open, signal, async (check) => written.push(check), ruleMs)
  expect(written).toEqual(checks)
  return { checks: Object.fromEntries(checks.map((one) => [one.check, one])), left, kept: [...kept.keys()] }
}

const dropExpected = (store: Store): Partial<Store> => ({
  write: async (key, value, expected) => store.write(key, value, expected && (await store.read(key))?.version),
})

describe('a check of a store', () => {
  it('has no bad line for a store that keeps the rules, and leaves no record', async () => {
    const { checks, left, kept } = await checked()
    expect(Object.values(checks).map(({ check, state }) => `${check}: ${state}`)).toEqual([
      'conditions: ok',
      'contract: ok',
      'clock: ok',
      'round trip: ok',
      'durability: ok',
      'server: ok',
    ])
    expect({ left, kept }).toEqual({ left: undefined, kept: [] })
  })

  it('names a condition that the store ignores, and removes the record', async () => {
    const { checks, kept } = await checked(dropExpected)
    expect(checks['conditions']).toMatchObject({
      state: 'bad',
      text: expect.stringMatching(/^a write over an old version was accepted, .* do not use this store/),
    })
    expect(checks).not.toHaveProperty('contract')
    expect(kept).toEqual([])
  })

  it('names the rule of the contract that is broken', async () => {
    const { checks, kept } = await checked((store) => ({
      write: async (key, value, ...rest) => store.write(key, value.trim(), ...rest),
    }))
    expect(checks['contract']).toMatchObject({
      state: 'bad',
      text: expect.stringMatching(/^the rule 'keeps values of every kind of text as they are' is broken: the value is/),
    })
    expect(kept).toEqual([])
  })

  it('says that the store failed, and makes no further check, if the store goes away', async () => {
    let writes = 0
    const { checks, kept } = await checked((store) => ({
      write: async (...words) => {
        if (++writes >= 20 && writes < 40) throw Object.assign(new Error('it is gone'), { code: 'ECONNREFUSED' })
        return store.write(...words)
      },
    }))
    expect(checks).toEqual({
      conditions: expect.objectContaining({ state: 'ok' }),
      contract: {
        check: 'contract',
        state: 'bad',
        text: expect.stringMatching(/^the store failed during the rule '.+': it is gone \(ECONNREFUSED\)$/),
      },
    })
    expect(kept).toEqual([])
  })

  it('asks a store that has fallen silent three times in a row, and names all records that are left', async () => {
    let isSilent = false
    let writes = 0
    let reads = 0
    const silence = () => new Promise<never>(() => {})
    const { left, kept } = await checked(
      (store) => ({
        write: async (...words) => {
          isSilent ||= ++writes === 60
          return isSilent ? silence() : store.write(...words)
        },
        read: async (...words) => {
          if (!isSilent) return store.read(...words)
          reads++
          return silence()
        },
      }),
      undefined,
      { callMs: 20, ruleMs: 1000 },
    )
    expect(kept.length).toBeGreaterThan(1)
    for (const key of kept) expect(left?.text).toContain(key)
    // A read of the rule may be among them.
    expect(reads).toBeLessThanOrEqual(8)
  })

  it('names the record of a write that is under way at the end, and refuses what its rule does next', async () => {
    let release = () => {}
    let last = ''
    let writes = 0
    const { checks, left } = await checked(
      (store) => ({
        write: async (key, ...rest) => {
          // The first write of the contract. The check of conditions makes four.
          if (++writes === 5) {
            last = key
            await new Promise<void>((resolve) => {
              release = resolve
            })
          }
          return store.write(key, ...rest)
        },
      }),
      undefined,
      { ruleMs: 200 },
    )
    expect(checks['contract']?.text).toContain('no answer within 0.2 s')
    expect(left?.text).toContain(last)
    const before = writes
    release()
    // Turns of the event loop, in which the rule makes its next write.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
    expect(writes).toBe(before)
  })

  it('makes no further check if a store does not answer outside the contract', async () => {
    const nowMs = async () => {
      throw new Error('it is gone')
    }
    const { checks } = await checked(() => ({ nowMs }))
    expect(Object.keys(checks)).toEqual(['conditions', 'contract', 'clock'])
    expect(checks['clock']).toMatchObject({ state: 'bad', text: expect.stringContaining('it is gone') })
  })

  it('writes one record and names it if the store may not remove records', async () => {
    const { checks, left, kept } = await checked(() => ({
      remove: async () => {
        throw new Error('permission denied')
      },
    }))
    expect(kept).toHaveLength(1)
    expect(left?.text).toContain(`could not remove ${kept[0]};`)
    expect(checks).toMatchObject({ conditions: { text: 'permission denied' }, left: left as object })
  })

  it('says how far the clock of the store is from the clock of the host', async () => {
    const { checks } = await checked((store) => ({ nowMs: async () => ((await store.nowMs?.()) ?? 0) - 10_000 }))
    expect(checks['clock']).toMatchObject({ state: 'bad', text: expect.stringMatching(/^(10000|9999) ms behind/) })
  })

  it('says that the store may forget', async () => {
    const { checks } = await checked(() => ({ durable: false, incarnation: async () => 'one' }))
    expect(checks['durability']).toMatchObject({ state: 'note', text: expect.stringContaining('11 s') })
  })

  it('removes what it has written if it is interrupted at any write', async () => {
    for (const at of [1, 2, 5, 30, 60, 100]) {
      const controller = new AbortController()
      let writes = 0
      const { kept, left } = await checked(
        (store) => ({
          write: async (...words) => {
            if (++writes === at) controller.abort('SIGINT')
            await new Promise(setImmediate)
            return store.write(...words)
          },
        }),
        controller.signal,
      )
      expect({ at, writes: writes >= at, kept, left }).toEqual({ at, writes: true, kept: [], left: undefined })
    }
  })
})

describe('graupel store check', () => {
  it('prints a line for each check, or a JSON array, and leaves no record and no sum', async () => {
    const { database, file, folder, store } = await sqliteFleet()
    await store.write('numbers/orders', 'mine', undefined)
    const run = await graupelIn(folder, ['store', 'check', `sqlite:${file}`])
    expect(run).toMatchObject({ status: 0, stderr: '' })
    expect(run.stdout).toMatch(
      /^ok +conditions .*\nok +contract +all \d+ rules hold\nok +clock .*\nok +round trip .*\nok +durability +durable\nok +server .*\n$/,
    )
    const json = await graupelIn(folder, ['store', 'check', `sqlite:${file}`, '--json'])
    expect(JSON.parse(json.stdout)).toHaveLength(6)
    const rows = (table: string) => database.prepare(`SELECT key FROM ${table}`).all()
    expect([rows('graupel_store'), rows('graupel_store_sums')]).toEqual([[{ key: 'numbers/orders' }], []])
  })

  it('refuses a missing file without --create', async () => {
    const { file, folder } = await sqliteFleet()
    const words = ['store', 'check', `sqlite:${file}.new`]
    const refused = await graupelIn(folder, words)
    expect(refused.status).toBe(2)
    expect(refused.stderr).toMatch(/there is no such file; see --create \(ERR_STORE_UNAVAILABLE\)\n$/)
    expect(await graupelIn(folder, [...words, '--create'])).toMatchObject({ status: 0 })
  })

  it.skipIf(process.platform === 'win32').each([
    ['its lines', [], /^ok +conditions .*\n$/],
    ['no half of an array', ['--json'], /^$/],
  ])('ends by the signal that interrupts it, and leaves no record but %s', async (_, more, stdout) => {
    const kept = new Set<string>()
    let interrupt = () => {}
    let writes = 0
    const around = (inner: Store): Store => ({
      ...inner,
      async write(key, ...rest) {
        const isScratch = key.startsWith('contract-')
        if (isScratch && ++writes === 10) interrupt()
        const version = await inner.write(key, ...rest)
        if (isScratch && version !== undefined) kept.add(key)
        return version
      },
      async remove(key, ...rest) {
        kept.delete(key)
        return (await inner.remove?.(key, ...rest)) === true
      },
    })
    const { url } = await startService({ leases: true }, { around })
    const { folder } = await sqliteFleet()
    const { child, ended } = launch(folder, ['store', 'check', url.replace('http:', 'graupel+http:'), ...more])
    interrupt = () => child.kill('SIGINT')
    expect(await ended).toMatchObject({
      signal: 'SIGINT',
      stdout: expect.stringMatching(stdout),
      stderr: 'graupel: interrupted; no scratch record is left\n',
    })
    expect([writes >= 10, [...kept]]).toEqual([true, []])
  })

  it.each([
    [['store'], /store has no verb; write graupel store check URL/],
    [['store', 'chekc', 'sqlite:x'], /store has no verb 'chekc'/],
    [['store', 'check'], /store check has no URL/],
    [['store', 'check', 'sqlite:x', 'y'], /has a second word, 'y'/],
    [['store', 'check', 'x'], /store is no URL/],
  ])('refuses graupel %j', async (words, message) => {
    const { status, stderr } = await graupel(words)
    expect(status).toBe(2)
    expect(stderr).toMatch(message)
  })
})
