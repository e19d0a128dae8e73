import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { engineInfo } from 'graupel'
import { describe, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.js'

// `park()` stops all threads of the process, also those that started before the main thread imported the
// package and share no memory of the js engine with it.

const program = fileURLToPath(new URL('./programs/parked-threads.js', import.meta.url))

async function park(order: object, env: Record<string, string> = {}): Promise<{ before: string[]; after: string[] }> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(order)], {
    env: { ...process.env, ...env },
  })
  return JSON.parse(stdout)
}

const ids = (options: object) => ({
  makes: 'ids',
  options: { node: 7, namespace: freshNamespace(), ...options },
  calls: ['next', 'fill'],
})
const isNumber = expect.stringMatching(/^[1-9][0-9]*$/)
// Only the first call after the parking is sure to find no numbers: it asks for new ones, and they may be
// there for the second.
const drained = { before: ['1', '2'], after: ['ERR_EMPTY', expect.stringMatching(/^[1-9][0-9]{3,}$/)] }
const drainedByFill = { ...drained, before: ['3', '4'] }
const cloned = { before: [isNumber, isNumber], after: ['ERR_STATE_CLONED', 'ERR_STATE_CLONED'] }

describe.skipIf(engineInfo().kind !== 'native')(
  'park() stops a worker that shares the addon with the main thread',
  () => {
    it.each([['on the native engine, which started before the import', ids({}), true, {}]])(
      '%s',
      async (_, order, isEarly, env) => {
        expect(await park({ ...order, isEarly }, env)).toEqual(cloned)
      },
    )

    it.each([
      ['for the js engine, and started before the import', { engine: 'js', state: 'thread' }, true, {}],
      ['for the native engine, below GRAUPEL_ENGINE=js', { engine: 'native' }, false, { GRAUPEL_ENGINE: 'js' }],
    ])('is refused if it asks %s', async (_, options, isEarly, env) => {
      const { before } = await park({ ...ids(options), isEarly }, env)
      expect(before).toEqual(['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNREACHABLE'])
    })

    it('with segments, which started before the import', async () => {
      expect(await park({ makes: 'segments', isEarly: true, calls: ['next', 'nextAsync'] })).toEqual(drained)
    })

    it.each([true, false])('with segments of the main thread, which started before the import: %j', async (isEarly) => {
      expect(await park({ makes: 'handle', isEarly, calls: ['next', 'nextAsync'] })).toEqual(drained)
      expect(await park({ makes: 'handle', isEarly, calls: ['fill', 'nextAsync'] })).toEqual(drainedByFill)
    })
  },
)

describe('park() stops a worker that shares the memory of the states', () => {
  it.each([{}, { GRAUPEL_ENGINE: 'js' }])('%j', async (env) => {
    expect(await park({ ...ids({ state: 'process' }), isEarly: false }, env)).toEqual(cloned)
    expect(await park({ makes: 'segments', isEarly: false, calls: ['fill', 'nextAsync'] }, env)).toEqual(drainedByFill)
  })

  it('and segments of the main thread are refused to a thread that does not, on the js engine', async () => {
    const order = { makes: 'handle', isEarly: true, calls: ['next', 'nextAsync'] }
    const { before } = await park(order, { GRAUPEL_ENGINE: 'js' })
    expect(before).toEqual(['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNREACHABLE'])
  })

  it.each([{}, { GRAUPEL_ENGINE: 'js' }])('and is refused to a thread that does not: %j', async (env) => {
    const { before } = await park({ makes: 'lease', isEarly: true, calls: ['park', 'resume'] }, env)
    expect(before).toEqual(['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNREACHABLE'])
  })
})
