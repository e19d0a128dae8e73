import { channel } from 'node:diagnostics_channel'
import { Writable } from 'node:stream'
import { memoryStore } from 'graupel/stores'
import { expect, test } from 'vitest'
import { makeApp } from '../../server/src/app.ts'
import { logEvents } from '../../server/src/events.ts'
import { makeLogger } from '../../server/src/http/log.ts'
import { Metrics } from '../../server/src/metrics/metrics.ts'
import { Service } from '../../server/src/service.ts'
import { openedMemory, optionsOf } from './support/in-process.ts'

const hide = (text: string) => text.replaceAll('s3cret', '***')

/** Makes a logger and the list of its lines. */
function logger() {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _, done) {
      lines.push(`${chunk}`)
      done()
    },
  })
  return { lines, log: makeLogger({ logLevel: 'debug' }, sink, hide) }
}

/** Makes an error like ioredis's, with the failed command, as the cause of another error. */
function errorOfClient(): Error {
  const command = { name: 'auth', args: ['s3cret'] }
  const cause = Object.assign(new Error('WRONGPASS for redis://:s3cret@10.0.0.1'), { command, code: 'WRONGPASS' })
  return Object.assign(new Error('the store says s3cret', { cause }), { command })
}

test('an error is logged with its causes, and without the credentials of the store', () => {
  const { lines, log } = logger()
  log.warn({ err: errorOfClient() }, 'a node was not given back')
  log.warn({ err: 's3cret' }, 'thrown as a text')
  expect(lines.join('')).not.toContain('s3cret')
  const [first, second] = lines.map((line) => JSON.parse(line).err)
  expect(Object.keys(first)).toEqual(['type', 'message', 'stack'])
  expect(first.stack).toMatch(
    /the store says \*\*\*.* at .*caused by: Error: WRONGPASS for redis:\/\/:\*\*\*@10\.0\.0\.1/s,
  )
  expect(second).toBe('***')
})

test('the errors of a request are logged in the same way', async () => {
  const { lines, log } = logger()
  const options = optionsOf([])
  const service = new Service(options, openedMemory(memoryStore()))
  const { app } = await makeApp(options, service, new Metrics(), log)
  const [source] = service.ids.values()
  if (source !== undefined) source.next = () => Promise.reject(errorOfClient())
  expect((await app.inject('/v1/ids?format=hex')).statusCode).toBe(500)
  expect((await app.inject('/api/snowflake/get/orders')).statusCode).toBe(500)
  await app.close()
  await service.close()
  const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50)
  expect(errors.map(({ err }) => err.message)).toEqual(
    Array(2).fill('the store says ***: WRONGPASS for redis://:***@10.0.0.1'),
  )
  expect(lines.join('')).not.toContain('s3cret')
})

test('a frequent event is logged once, and once for each layout and node', () => {
  const { lines, log } = logger()
  const stop = logEvents(log, hide)
  const events = [
    { layout: 'twitter', node: 7 },
    { layout: 'twitter', node: 7 },
    { layout: 'twitter', node: 8 },
    { layout: 'discord', node: 7 },
  ]
  try {
    for (const event of events) channel('graupel:rollback').publish({ type: 'rollback', ...event })
  } finally {
    stop()
  }
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [0, 2, 3].map((index) => expect.objectContaining({ event: 'rollback', ...events[index] })),
  )
})
