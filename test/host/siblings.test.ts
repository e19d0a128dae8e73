import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, failure, Obedient, type Plan, start, stateFolder, wellEnded } from '../support/processes.ts'
import { recordsOf } from '../support/records.ts'

// Programs that run in several processes, by node:cluster or a process manager such as pm2.

afterEach(cleanUp)

const managed = { env: { NODE_APP_INSTANCE: '1' } }
const plan = (engine?: string): Plan => ({
  node: 1,
  namespace: freshNamespace(),
  ...(engine !== undefined && { engine }),
})

describeWith(['native'], 'the native engine with default options', () => {
  it('works under a process manager, whose processes share one state', async () => {
    const own = plan()
    const [one, two] = [new Obedient(managed), new Obedient(managed)]
    await Promise.all([one.open(own), two.open(own)])
    expect((await one.stats()).state).toBe('host')
    const [first, second] = await Promise.all([one.take(20_000), two.take(20_000)])
    expect(new Set([...first, ...second]).size).toBe(40_000)
  })

  it('works in workers of node:cluster, which share one state', async () => {
    const { folder } = stateFolder()
    const file = join(folder, 'record')
    await wellEnded(start('record.js', { plan: plan(), file, forks: 2, count: 20_000 }))
    const records = recordsOf(file)
    expect(records.map(({ length }) => length)).toEqual([20_000, 20_000])
    expect(duplicatesAmong(records)).toBe(0)
  })
})

describe('the js engine', () => {
  it('is refused under a process manager unless the options say that it is alone', async () => {
    const process = new Obedient(managed)
    const error = await failure(process.open(plan('js')))
    expect(error.code).toBe('ERR_STATE_UNREACHABLE')
    expect(error.message).toContain("pass state: 'process'")
    await process.open({ ...plan('js'), state: 'process' })
    expect(await process.take(3)).toHaveLength(3)
  })

  it('is refused under a process manager even if the environment chooses it', async () => {
    const process = new Obedient({ env: { ...managed.env, GRAUPEL_ENGINE: 'js' } })
    expect((await failure(process.open(plan()))).code).toBe('ERR_STATE_UNREACHABLE')
  })

  it('is refused in workers of node:cluster unless the options say that it is alone', async () => {
    const { folder } = stateFolder()
    const file = join(folder, 'record')
    const refused = await start('record.js', { plan: plan('js'), file, forks: 2, count: 10 }).ended
    expect(refused.code).toBe(1)
    expect(refused.errors).toContain('ERR_STATE_UNREACHABLE')
    expect(recordsOf(file)).toEqual([])
    await wellEnded(start('record.js', { plan: { ...plan('js'), state: 'process' }, file, forks: 2, count: 10 }))
    expect(recordsOf(file).map(({ length }) => length)).toEqual([10, 10])
  })

  it.each(['host', './ids.state'])('is refused with state %s', async (state) => {
    const error = await failure(new Obedient().open({ ...plan('js'), state }))
    expect(error.code).toBe('ERR_NATIVE_UNAVAILABLE')
    expect(() => readFileSync('./ids.state')).toThrow()
  })
})
