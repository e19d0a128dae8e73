import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { engineInfo } from 'graupel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../support/engines.js'

const folder = fileURLToPath(new URL('../..', import.meta.url))

/** Runs a script in a new process, and returns the JSON that it prints. */
function run(code: string, env: Record<string, string> = {}) {
  const script = `
    import { createGenerator, engineInfo } from 'graupel'
    import diagnostics from 'node:diagnostics_channel'
    const out = {}
    const attempt = (call) => { try { return call() } catch (error) { return { code: error.code, message: error.message, cause: error.cause?.message } } }
    ${code}
    console.log(JSON.stringify(out, (_, value) => typeof value === 'bigint' ? String(value) : value))`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (child.status !== 0) throw new Error(child.stderr)
  return { out: JSON.parse(child.stdout), stderr: child.stderr }
}

let temporary: string
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'graupel-'))
})
afterAll(() => rmSync(temporary, { recursive: true }))

describe('the choice of the engine', () => {
  it.runIf(engines.includes('native'))('is native if its binary loads, and names the binary', () => {
    expect(engineInfo()).toMatchObject({ kind: 'native', file: expect.stringMatching(/graupel.*\.node$/) })
  })

  it('is js, without a warning, if GRAUPEL_ENGINE is js', () => {
    const { out, stderr } = run('out.info = engineInfo(); out.id = createGenerator({ node: 1 }).next()', {
      GRAUPEL_ENGINE: 'js',
    })
    expect(out.info).toMatchObject({ kind: 'js', reason: "GRAUPEL_ENGINE is 'js'" })
    expect(stderr).toBe('')
  })

  it('prefers the option engine to GRAUPEL_ENGINE', () => {
    const code = "out.engine = createGenerator({ node: 1, engine: 'js' }).stats().engine"
    expect(run(code, { GRAUPEL_ENGINE: 'native' }).out.engine).toBe('js')
  })

  it('refuses other values of GRAUPEL_ENGINE', () => {
    const { out } = run('out.error = attempt(() => createGenerator({ node: 1 }))', { GRAUPEL_ENGINE: 'wasm' })
    expect(out.error).toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('GRAUPEL_ENGINE') })
  })

  it('is published on graupel:engine', () => {
    const { out } = run(
      "diagnostics.subscribe('graupel:engine', (event) => { out.event = event }); out.info = engineInfo()",
    )
    expect(out.info).toMatchObject(out.event as object)
  })
})

describe('the channels', () => {
  it('publish a rollback and an overflow once each, however many ids they affect', () => {
    const { out } = run(`
      out.events = []
      for (const name of ['rollback', 'overflow']) diagnostics.subscribe('graupel:' + name, (event) => out.events.push(event))
      let now = 1700000000000
      const ids = createGenerator({ node: 7, namespace: 'orders', clock: () => now, onOverflow: 'advance' })
      ids.next(); now -= 30; ids.take(100); for (let i = 0; i < 100; i++) ids.next()
      now += 100; for (let i = 0; i < 4100; i++) ids.next()`)
    expect(out.events).toEqual([
      {
        type: 'rollback',
        layout: 'twitter',
        namespace: 'orders',
        node: 7,
        nowMs: 1699999999970,
        rollbackMs: 30,
        aheadMs: 30,
      },
      {
        type: 'overflow',
        layout: 'twitter',
        namespace: 'orders',
        node: 7,
        nowMs: 1700000000070,
        rollbackMs: 0,
        aheadMs: 1,
      },
    ])
  })
})

describe('other processes', () => {
  it('make state an explicit choice on the js engine under a process manager', () => {
    const code = `
      out.implicit = attempt(() => createGenerator({ node: 1, engine: 'js' }))
      out.explicit = attempt(() => createGenerator({ node: 1, engine: 'js', state: 'process' }).stats().state)
      out.simulated = attempt(() => createGenerator({ node: 1, engine: 'js', clock: () => 1.8e12 }).stats().state)`
    const { out } = run(code, { NODE_APP_INSTANCE: '1' })
    expect(out.implicit).toMatchObject({
      code: 'ERR_STATE_UNREACHABLE',
      message: expect.stringContaining("state: 'process'"),
    })
    expect(out.explicit).toBe('process')
    // The default of state with a clock function is 'process'.
    expect(out.simulated).toBe('process')
    // An empty variable counts as unset.
    expect(run(code, { NODE_APP_INSTANCE: '' }).out.implicit).not.toHaveProperty('code')
  })

  it('make state an explicit choice on the js engine in a worker of node:cluster', () => {
    const file = join(temporary, 'cluster.cjs')
    writeFileSync(
      file,
      `const cluster = require('node:cluster')
      if (cluster.isPrimary) cluster.fork().on('exit', (code) => process.exit(code))
      else import(process.argv[2]).then(({ createGenerator }) => {
        try { createGenerator({ node: 1, engine: 'js' }); process.exit(3) }
        catch (error) { console.log(error.code); process.exit(0) }
      })`,
    )
    const entry = import.meta.resolve('graupel')
    expect(execFileSync(process.execPath, [file, entry], { encoding: 'utf8' }).trim()).toBe('ERR_STATE_UNREACHABLE')
  })
})

describe('the last year of a layout', () => {
  it('causes one warning', () => {
    const { stderr } = run(`
      const epoch = Date.now() - 2 ** 41 + 86_400_000 * 30
      for (let i = 0; i < 3; i++) createGenerator({ node: i, epoch })`)
    expect(stderr.match(/GRAUPEL_LAYOUT_EXPIRES/g)).toHaveLength(1)
  })
})
