import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openCore } from '../../src/engine/open.ts'
import { TracedCore } from '../../src/platform/traced.ts'
import { engines, freshNamespace } from '../support/engines.ts'
import { specFor } from './tiny.ts'

const program = fileURLToPath(new URL('programs/debugged.js', import.meta.url))

describe.each(engines)('NODE_DEBUG, %s engine', (engine) => {
  const namespace = freshNamespace()

  /** Runs the program, and returns its lines of debugging as kinds and facts. */
  function run(debug: string | undefined) {
    const env = { ...process.env, GRAUPEL_ENGINE: engine, NODE_DEBUG: debug }
    const child = spawnSync(process.execPath, [program, engine, namespace], { encoding: 'utf8', env })
    expect(child, child.stderr).toMatchObject({ status: 0, stdout: '' })
    const lines = child.stderr.split('\n').filter((line) => line !== '')
    return lines.map((line) => {
      const [, pid, kind, words] = /^GRAUPEL (\d+): (\w+) (.*)$/.exec(line) ?? []
      expect(Number(pid), line).toBe(child.pid)
      const facts = [...(words as string).matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|\S+)(?: |$)/g)]
      // Nothing else is between the facts.
      expect(facts.map(([text]) => text).join('')).toBe(words)
      return { kind, ...Object.fromEntries(facts.map(([, name, value]) => [name, value])) }
    })
  }

  test('graupel prints each reservation, verdict, renewal and phase', () => {
    const lines = run('graupel')
    const of = (kind: string) => lines.filter((line) => line.kind === kind)
    const first = { layout: 'twitter', namespace: JSON.stringify(namespace), node: '7', engine, count: '1' }
    const tick = Date.UTC(2026, 0, 1) - Date.UTC(2010, 10, 4, 1, 42, 54, 657)
    expect(of('reservation').slice(0, 3)).toMatchObject([
      { ...first, tick: String(tick), time: '2026-01-01T00:00:00.000Z', sequence: '0' },
      { ...first, tick: String(tick + 1), time: '2026-01-01T00:00:00.001Z', sequence: '0', count: '4096' },
      { ...first, tick: String(tick + 2), time: '2026-01-01T00:00:00.002Z', sequence: '0' },
    ])
    // The lines of the lease, before and after it was parked.
    expect(of('reservation').slice(3)).toMatchObject([
      { node: '5', engine, sequence: '0', count: '1' },
      { node: '5', engine, sequence: '0', count: '1' },
    ])
    const ids = { layout: 'twitter', namespace: JSON.stringify(namespace), node: '7' }
    expect(of('verdict')).toMatchObject([
      { ...ids, type: 'overflow', action: 'advance', do: 'grant', limitTick: String(tick + 1001), aheadMs: '1' },
      { ...ids, type: 'rollback', action: 'throw', do: 'throw', rollbackMs: '100', retryAfterMs: '101' },
    ])
    const lease = { store: 'memory', layout: 'twitter', namespace: JSON.stringify(namespace), node: '5' }
    const [renewal] = of('renewal')
    expect(renewal).toMatchObject({ ...lease, renewals: '1', ceiling: expect.stringMatching(/^\d{4}-.*Z$/) })
    const phases = of('phase') as unknown as { from: string; to: string }[]
    for (const phase of phases) expect(phase).toMatchObject(lease)
    const to = phases.map((phase) => phase.to)
    expect(phases.map((phase) => phase.from)).toEqual(['acquiring', ...to.slice(0, -1)])
    expect(to.slice(0, 3)).toEqual(['held', 'renewing', 'held'])
    expect(to.slice(-3)).toEqual(['parked', 'held', 'released'])
  })

  test('a stderr of the program that makes ids gets no id of the call that prints', () => {
    const hooked = fileURLToPath(new URL('programs/debug-hook.mjs', import.meta.url))
    const env = { ...process.env, GRAUPEL_ENGINE: engine, NODE_DEBUG: 'graupel' }
    const { stdout } = spawnSync(process.execPath, [hooked], { encoding: 'utf8', env })
    const { made, different } = JSON.parse(stdout) as { made: number; different: number }
    // 200 by the program itself.
    expect(made).toBeGreaterThan(260)
    expect(different).toBe(made)
  })

  test('a view prints its own reservations, with the node to which its generator has moved', () => {
    const of = (node: number) => specFor(namespace, { state: { kind: 'process' } }, node)
    const lines: [node: number, sequence: number][] = []
    const print = (_: string, facts: object) => {
      const { node, sequence } = facts as { node: number; sequence: number }
      lines.push([node, sequence])
    }
    const core = new TracedCore(openCore(engine, of(1)), engine, { spec: of(1) }, print)
    const view = core.view(0n)
    // Runs of the tiny layout have one slot, so each call makes a reservation.
    for (const each of [core, view, view, core]) each.takeOne()
    for (const each of [core, view]) each.fill(new BigUint64Array(0), 0, 0)
    core.moveTo(of(2))
    view.follow()
    for (const each of [view, core]) each.takeOne()
    view.fill(new BigUint64Array(2), 0, 2)
    expect(lines).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 0],
      [2, 1],
      [2, 2],
    ])
  })

  test('a core reports no reservation after it is closed', () => {
    const core = openCore(engine, specFor(namespace, { state: { kind: 'process' } }, 3))
    core.takeOne()
    expect(core.report().reservation.number).toBe(1)
    core.close()
    expect(core.report().reservation.number).toBe(0)
  })

  test.each([undefined, 'http'])('%j prints nothing', (debug) => {
    expect(run(debug)).toEqual([])
  })
})
