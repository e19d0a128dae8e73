import { once } from 'node:events'
import { createCounter, createSegmentGenerator } from 'graupel/segments'
import { describe, expect, it } from 'vitest'
import { graupelIn, launch, sqliteFleet } from './fleet.ts'

const isWindows = process.platform === 'win32'

type Fleet = Awaited<ReturnType<typeof sqliteFleet>>

/** Returns the lines that `graupel next` prints. */
async function printed({ folder, words }: Fleet, ...more: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await graupelIn(folder, ['next', ...more, ...words])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').slice(0, -1)
}

describe('graupel next --segment', () => {
  it('fetches exactly the numbers that it prints, so the next command continues without a gap', async () => {
    const fleet = await sqliteFleet()
    expect(await printed(fleet, '--segment', 'orders', '-n', '3')).toEqual(['1', '2', '3'])
    expect(await printed(fleet, '--segment', 'orders')).toEqual(['4'])
    expect(await printed(fleet, '--segment', 'orders', '-n', '0')).toEqual([])
    const many = await printed(fleet, '--segment', 'orders', '-n', '40000')
    expect(many.map(Number)).toEqual(Array.from({ length: 40_000 }, (_, i) => 5 + i))
    expect(await printed(fleet, '--segment', 'invoices')).toEqual(['1'])
  })

  it('has other numbers than commands and programs that run at the same time', async () => {
    const fleet = await sqliteFleet()
    using numbers = await createSegmentGenerator({ store: fleet.store, name: 'orders', step: 10 })
    const runs = await Promise.all(Array.from({ length: 3 }, () => printed(fleet, '--segment', 'orders', '-n', '500')))
    const all = [...runs.flat(), ...numbers.take(10).map(String)]
    expect(new Set(all).size).toBe(1510)
  })

  it('writes numbers in the formats of ids', async () => {
    const fleet = await sqliteFleet()
    await printed(fleet, '--segment', 'orders', '-n', '1000')
    expect(await printed(fleet, '--segment', 'orders', '--format', 'json')).toEqual(['{"number":"1001"}'])
    expect(await printed(fleet, '--segment', 'orders', '--format', 'hex')).toEqual(['00000000000003ea'])
  })

  it('refuses the name of a counter', async () => {
    const fleet = await sqliteFleet()
    const { status, stderr } = await counterThenSegment(fleet)
    expect(status).toBe(2)
    expect(stderr).toMatch(/^graupel: [^\n]*'counter'[^\n]*\(ERR_STATE_MISMATCH\)\n$/)
  })

  it.skipIf(isWindows)('ends by a signal, even while its output is not read', async () => {
    const fleet = await sqliteFleet()
    const words = ['next', '--segment', 'orders', '-n', '9007199254740991', ...fleet.words]
    const { child, ended } = launch(fleet.folder, words)
    await once(child.stdout, 'readable')
    child.stdout.pause()
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ signal: 'SIGTERM', stderr: '' })
  })
})

async function counterThenSegment({ folder, words, store }: Fleet) {
  using counter = await createCounter({ store, name: 'orders' })
  await counter.next()
  return graupelIn(folder, ['next', '--segment', 'orders', ...words])
}

describe('graupel next --counter', () => {
  it('continues the count, in its pattern', async () => {
    const fleet = await sqliteFleet()
    expect(await printed(fleet, '--counter', 'invoices')).toEqual(['1'])
    const pattern = ['--pattern', 'IN-{count:6}']
    expect(await printed(fleet, '--counter', 'invoices', '-n', '2', ...pattern)).toEqual(['IN-000002', 'IN-000003'])
    expect(await printed(fleet, '--counter', 'invoices', '-n', '0')).toEqual([])
    const many = await printed(fleet, '--counter', 'invoices', '-n', '10000')
    expect(many.map(Number)).toEqual(Array.from({ length: 10_000 }, (_, i) => 4 + i))
  })

  it('begins again with each period of its time zone', async () => {
    const fleet = await sqliteFleet()
    const flags = ['--pattern', '{yyyy}-{count}', '--reset', 'year', '--time-zone', '+08:00']
    const texts = await printed(fleet, '--counter', 'invoices', '-n', '2', ...flags)
    expect(texts.map((text) => text.slice(4))).toEqual(['-1', '-2'])
  })

  it.skipIf(isWindows)('leaves no gap if a signal ends it while its output is read', async () => {
    const fleet = await sqliteFleet()
    const words = ['next', '--counter', 'invoices', '-n', '9007199254740991', ...fleet.words]
    const { child, ended } = launch(fleet.folder, words)
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    const { stdout } = await ended
    const last = Number(stdout.split('\n').at(-2))
    expect(await printed(fleet, '--counter', 'invoices')).toEqual([`${last + 1}`])
  })
})

describe('graupel next without time', () => {
  it.each<[string[], RegExp]>([
    [['--segment', ''], /--segment is ''; pass 1 to 128 characters .*\(ERR_OPTION_INVALID\)/],
    [['--counter', ''], /--counter is ''; pass 1 to 128 characters .*\(ERR_OPTION_INVALID\)/],
    [['--segment', 'a', '--counter', 'b'], /--counter is not for --segment; leave it out/],
    [['--segment', 'a', '--node', '7'], /--node is not for --segment; leave it out/],
    [['--segment', 'a', '--layout', 'leaf'], /--layout is not for --segment/],
    [['--segment', 'a', '--on-rollback', 'wait'], /--on-rollback is not for --segment/],
    [['--segment', 'a', '--pattern', '{count}'], /--pattern is not for --segment/],
    [['--segment', 'a', '--prefix', 'b'], /--prefix is not for sqlite:/],
    [['--counter', 'a', '--format', 'hex'], /--format is not for --counter/],
    [['--counter', 'a', '--window-ms', '500'], /--window-ms is not for --counter/],
    [['--counter', 'a', '--pattern', '{yyyy}'], /the pattern is '\{yyyy\}': .*\(ERR_PATTERN_INVALID\)/],
    [['--counter', 'a', '--reset', 'day', '--pattern', 'N{count}'], /\(ERR_PATTERN_INVALID\)/],
    [['--counter', 'a', '--reset', 'hour'], /--reset is 'hour'; it is one of never, day, month, year/],
    [['--counter', 'a', '--time-zone', 'Europe/Berlin'], /--time-zone is 'Europe\/Berlin'/],
    [['--reset', 'day'], /--reset is for --counter; leave it out/],
  ])('refuses %j', async (words, message) => {
    const fleet = await sqliteFleet()
    const { status, stdout, stderr } = await graupelIn(fleet.folder, ['next', ...words, ...fleet.words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
    expect(stderr).toMatch(message)
    expect(await fleet.store.list('numbers/')).toEqual([])
  })

  it.each(['--segment', '--counter'])('asks for a store if %s has none', async (flag) => {
    const fleet = await sqliteFleet()
    const { status, stderr } = await graupelIn(fleet.folder, ['next', flag, 'orders'])
    expect(status).toBe(2)
    expect(stderr).toMatch(new RegExp(`^graupel: ${flag} is for a store; give --store URL`))
  })
})
