import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, defineLayout, layouts } from 'graupel'
import { memoryStore } from 'graupel/stores'
import { expect, it, vi } from 'vitest'
import { Client } from '../../server/src/http/tokens.ts'
import { startService } from './support/in-process.ts'
import { folder } from './support/process.ts'
import { command, RespClient } from './support/resp.ts'

const token = 't'.repeat(24)
const tokenFile = join(folder, 'tokens')
writeFileSync(tokenFile, `${token} name=shop`, { mode: 0o600 })
/** Ten numbers at a time, without fetching ahead. */
const steady = { step: 10, maxStep: 10, prefetchAt: 1 }
const store = memoryStore()
const given = {
  resp: 0,
  logLevel: 'info',
  segments: {
    shared: steady,
    high: { start: 10n ** 16n },
    edge: { ...steady, start: 2n ** 63n - 3n, max: 2n ** 64n - 1n },
  },
} as const
const service = await startService(
  {
    ...given,
    tokenFile,
    logIds: true,
    respCounters: 'c:',
    counters: { 'c:plain': { start: 9 }, 'c:padded': { start: 9, pattern: '{count:2}' } },
    layouts: [layouts.twitter, layouts.js53],
  },
  { store },
)
const other = await startService(given, { store })
const client = await RespClient.open(service.respUrl)
await client.ask('AUTH', token)

/** Returns the ranges that were logged since the last call. */
let seen = 0
function taken(): unknown[] {
  const lines = service.log.slice(seen).filter(({ event }) => event === 'taken')
  seen = service.log.length
  return lines.map(({ ranges }) => ranges)
}

it('numbers of segments are integers, also those above 10^16 and those of a block', async () => {
  expect(await client.ask('INCR', 'high')).toBe(1e16)
  expect(await client.ask('INCRBY', 'high', 2)).toBe(1e16 + 2)
})

it('counts are integers without a pattern, and text with a pattern, however many digits they have', async () => {
  expect(await client.ask('INCR', 'c:plain')).toBe(9)
  expect(await client.ask('INCRBY', 'c:plain', 2)).toBe(11)
  expect(await client.ask('INCR', 'c:padded')).toBe('09')
  expect(await client.ask('INCR', 'c:padded')).toBe('10')
  expect(await client.ask('INCRBY', 'c:padded', 2)).toBe('12')
})

it('numbers above 2^63 - 1 are refused, also for a block, and are not logged', async () => {
  expect(await client.ask('INCRBY', 'edge', 3)).toBe(2 ** 63)
  taken()
  await expect(client.ask('INCRBY', 'edge', 3)).rejects.toThrow('ERR_SEGMENT_OVERFLOW')
  await expect(client.ask('INCR', 'edge')).rejects.toThrow('ERR_SEGMENT_OVERFLOW')
  expect(taken()).toEqual([])
})

it('the log has the block that is sent, and the limit of the token counts each try', async () => {
  expect(await client.ask('INCRBY', 'shared', 5)).toBe(5)
  const rival = await RespClient.open(other.respUrl)
  expect(await rival.ask('INCR', 'shared')).toBe(11)
  rival.socket.destroy()
  taken()
  const takeIds = vi.spyOn(Client.prototype, 'takeIds')
  // The first try gets 6 to 10 and 21 to 22.
  expect(await client.ask('INCRBY', 'shared', 7)).toBe(29)
  expect(taken()).toEqual([[['23', '29']]])
  expect(takeIds.mock.calls).toEqual([[7], [7]])
  takeIds.mockRestore()
})

it('the log has no id of an MGET that another layout lets fail', async () => {
  const source = service.service.ids.get('js53') as NonNullable<ReturnType<typeof service.service.ids.get>>
  const fill = vi.spyOn(source, 'fill').mockRejectedValue(new Error('no id'))
  taken()
  const [refusal, id] = await client.send(command('MGET', 'id:twitter', 'id:js53') + command('GET', 'id:twitter'), 2)
  fill.mockRestore()
  expect(refusal).toBeInstanceOf(Error)
  expect(taken()).toEqual([[[id, id]]])
})

it('ids of a layout that begins with the sequence have their own lengths', async () => {
  const odd = defineLayout({
    name: 'odd',
    epochMs: Date.UTC(2024, 0),
    tickMs: 1,
    fields: [
      ['sequence', 4],
      ['timestamp', 41],
      ['node', 10],
    ],
  })
  const own = await startService({ resp: 0, layouts: [odd] })
  const reader = await RespClient.open(own.respUrl)
  for (let round = 0; round < 4; round++) {
    // One more than a tick has: the first and the last are shorter than those in between.
    const ids = (await reader.ask('ID.NEXT', 17)) as string[]
    const times = ids.map((id) => decode(id, odd).timestampMs)
    expect(times.every((time) => Math.abs(time - Date.now()) < 60_000)).toBe(true)
    expect(new Set(ids).size).toBe(17)
  }
  reader.socket.destroy()
})
