import { composeId, createGenerator, defineLayout, type EngineKind, layouts } from 'graupel'
import type { Tally } from '../simulation/nature.ts'
import { freshNamespace } from '../support/engines.js'

/** A layout in which an answer costs one sequence number. */
const hybrid = defineLayout({
  name: 'hybrid',
  epochMs: layouts.twitter.epochMs,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['sequence', 12],
    ['worker', 10],
  ],
})

/** How many answers hosts have made, and how many of them are not above their question. */
export interface Outcome extends Tally {
  virtualMs: number
  pairs: number
  inversions: number
}

/**
 * Simulates hosts that send ids to each other, and answer each id with one of their own. Their clocks are
 * wrong by up to a second, and step. Hosts pause, and their processes restart.
 *
 * @param observes - Whether a host observes an id before it answers.
 */
export function simulateHosts(engine: EngineKind, wanted: number, seed: number, observes: boolean): Outcome {
  let state = seed | 1
  // Marsaglia's xorshift32.
  const random = (most: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % most
  }
  let nowMs = Date.UTC(2026, 5, 1)
  const layout = (random(2) === 0 ? hybrid : layouts.twitter) as typeof layouts.twitter
  const namespace = freshNamespace()
  const open = (node: number) => {
    const clock = () => nowMs + (offsets[node] as number)
    return createGenerator({ node, layout, namespace, engine, clock, maxAheadMs: 10_000 })
  }
  const count = 6
  const offsets = Array.from({ length: count }, () => random(2001) - 1000)
  const pausedUntil = new Array<number>(count).fill(0)
  const hosts = offsets.map((_, node) => open(node))
  // The messages that arrive at a millisecond: the receivers and the questions.
  const delays = 8
  const arriving = Array.from({ length: delays }, () => ({ to: [] as number[], ids: [] as bigint[] }))
  const send = (id: bigint) => {
    const at = arriving[(nowMs + 1 + random(delays - 1)) % delays] as (typeof arriving)[number]
    at.to.push(random(count))
    at.ids.push(id)
  }
  const outcome = { pairs: 0, inversions: 0, virtualMs: 0, kills: 0, faults: 0 }
  for (let i = 0; i < 100; i++) send(composeId({ timestampMs: nowMs, node: i % count, sequence: i }, layout))
  while (outcome.pairs < wanted) {
    nowMs++
    outcome.virtualMs++
    if (random(50) === 0) {
      outcome.faults++
      offsets[random(count)] = random(2001) - 1000
    }
    if (random(50) === 0) {
      outcome.faults++
      pausedUntil[random(count)] = nowMs + random(500)
    }
    if (random(200) === 0) {
      outcome.faults++
      outcome.kills++
      const node = random(count)
      hosts[node]?.close()
      hosts[node] = open(node)
    }
    const due = arriving[nowMs % delays] as (typeof arriving)[number]
    arriving[nowMs % delays] = { to: [], ids: [] }
    for (let i = 0; i < due.to.length; i++) {
      const to = due.to[i] as number
      const question = due.ids[i] as bigint
      if ((pausedUntil[to] as number) > nowMs) {
        send(question)
        continue
      }
      const ids = hosts[to] as (typeof hosts)[number]
      if (observes) ids.observe(question)
      const answer = ids.next()
      outcome.pairs++
      if (answer <= question) outcome.inversions++
      send(answer)
    }
  }
  for (const ids of hosts) ids.close()
  return outcome
}
