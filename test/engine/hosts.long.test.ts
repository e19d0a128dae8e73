import { spawn } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.ts'
import { describeWith, libfaketime } from '../support/needs.ts'
import { repetitions } from '../support/short.ts'
import { simulateHosts } from './hosts.ts'

// Ids that hosts with wrong clocks observe: many more than in hosts.test.ts, and in real processes.

it(`an answer is above its question in each of 10^8 pairs, on the ${engines[0]} engine`, () => {
  const [engine = 'js'] = engines
  const rounds = repetitions(100, 1)
  let pairs = 0
  for (let seed = 1; seed <= rounds; seed++) {
    const outcome = simulateHosts(engine, 1_000_000, seed, true)
    expect(outcome.inversions, `seed ${seed}`).toBe(0)
    pairs += outcome.pairs
  }
  expect(pairs).toBeGreaterThanOrEqual(rounds * 1_000_000)
}, 1_800_000)

const folder = mkdtempSync(join(tmpdir(), 'graupel-hosts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const program = fileURLToPath(new URL('programs/answering.js', import.meta.url))

interface Answers {
  pairs: number
  inversions: number
  disorder: number
}

/**
 * Runs four processes in a ring: each answers the ids of the one before, until each has answered `wanted`
 * ids. Their clocks step by up to a second each 80 ms.
 */
async function ring(engine: string, wanted: number, observes: boolean): Promise<Answers[]> {
  const namespace = freshNamespace()
  const files = [0, 1, 2, 3].map((node) => join(folder, `clock-${node}`))
  const step = (file: string) => {
    const offset = (Math.random() * 2 - 1).toFixed(3)
    writeFileSync(`${file}.new`, offset.startsWith('-') ? offset : `+${offset}`)
    renameSync(`${file}.new`, file)
  }
  for (const file of files) step(file)
  const children = files.map((file, node) => {
    const env = { ...process.env, GRAUPEL_ENGINE: engine, LD_PRELOAD: libfaketime(), FAKETIME_TIMESTAMP_FILE: file }
    Object.assign(env, { FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1' })
    const order = JSON.stringify({ node, namespace, wanted, observes })
    return spawn(process.execPath, [program, order], { env, stdio: ['pipe', 'pipe', 'pipe'] })
  })
  const stepping = setInterval(() => step(files[Math.floor(Math.random() * 4)] as string), 20)
  const results = children.map(async (child) => {
    let text = ''
    for await (const part of child.stderr) text += part
    return JSON.parse(text) as Answers
  })
  for (const [node, child] of children.entries()) {
    const next = children[(node + 1) % 4] as (typeof children)[number]
    // The processes end at any moment.
    next.stdin.on('error', () => {})
    child.stdout.pipe(next.stdin)
  }
  // The first questions: zeros are below every id.
  for (const child of children) child.stdin.write(Buffer.alloc(8 * 500))
  try {
    return await Promise.all(results)
  } finally {
    clearInterval(stepping)
    for (const child of children) child.kill()
  }
}

describeWith(['faketime'], 'processes with stepped clocks', () => {
  it.each(engines)(
    'four processes whose clocks step answer by larger ids, on the %s engine',
    async (engine) => {
      const wanted = repetitions(engine === 'native' ? 2_500_000 : 250_000, 25_000)
      for (const { pairs, inversions, disorder } of await ring(engine, wanted, true)) {
        // Each process has a node of its own, and its ids ascend: no two are equal.
        expect({ inversions, disorder }).toEqual({ inversions: 0, disorder: 0 })
        expect(pairs).toBeGreaterThanOrEqual(wanted)
      }
    },
    1_800_000,
  )

  it('four processes answer by smaller ids without observe', async () => {
    const [engine = 'js'] = engines
    const answers = await ring(engine, 25_000, false)
    expect(answers.reduce((sum, { inversions }) => sum + inversions, 0)).toBeGreaterThan(1000)
    expect(answers.map(({ disorder }) => disorder)).toEqual([0, 0, 0, 0])
  })
})
