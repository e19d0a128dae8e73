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

const ids = (options: object) => ({ makes: 'ids', options: { node: 7, namespace: freshNamespace(), ...options } })
const isNumber = expect.stringMatching(/^[1-9][0-9]*$/)
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
      const { before, after } = await park({ makes: 'segments', isEarly: true })
      expect(before).toEqual(['1', '4', '5'])
      expect(after).toEqual(['ERR_EMPTY', 'ERR_EMPTY', expect.stringMatching(/^[1-9][0-9]{3,}$/)])
    })

    it.each([true, false])('with segments of the main thread, which started before the import: %j', async (isEarly) => {
      const { before, after } = await park({ makes: 'handle', isEarly })
      expect(before).toEqual(['1', '4', '5'])
      expect(after).toEqual(['ERR_EMPTY', 'ERR_EMPTY', expect.stringMatching(/^[1-9][0-9]{3,}$/)])
    })
  },
)

describe('park() stops a worker that shares the memory of the states', () => {
  it.each([{}, { GRAUPEL_ENGINE: 'js' }])('%j', async (env) => {
    expect(await park({ ...ids({ state: 'process' }), isEarly: false }, env)).toEqual(cloned)
    const { before, after } = await park({ makes: 'segments', isEarly: false }, env)
    expect(before).toEqual(['1', '4', '5'])
    expect(after.slice(0, 2)).toEqual(['ERR_EMPTY', 'ERR_EMPTY'])
  })

  it.each([{}, { GRAUPEL_ENGINE: 'js' }])('and is refused to a thread that does not: %j', async (env) => {
    const { before } = await park({ makes: 'lease', isEarly: true }, env)
    expect(before).toEqual(['ERR_STATE_UNREACHABLE', 'ERR_STATE_UNREACHABLE'])
  })
})
