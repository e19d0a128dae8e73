import { fileURLToPath } from 'node:url'
import { decode } from 'graupel'
import { hasFalseClock } from '../chaos/crew.ts'
import type { Subject } from '../chaos/proof.ts'
import type { Work } from '../chaos/work.ts'
import { layout, nodes } from './programs/chaos-layout.js'

const { shift } = layout.timestamp

function nodeOf(low: number): number {
  return (low >>> layout.sequence.bits) & (layout.nodes - 1)
}

const ids: Subject = {
  /** The second in which it was made. */
  partOf: (high, low) => Math.floor((high * 2 ** (32 - shift) + (low >>> shift)) / 1000),
  firstOf: (second) => BigInt(second * 1000) << BigInt(shift),
  isPossible(high, low) {
    const node = nodeOf(low)
    return node >= nodes[0] && node <= nodes[1] && high < 2 ** (layout.bits - 32)
  },
  tell(id) {
    const { timestampMs, sequence } = decode(id, layout)
    return `${id} (${new Date(timestampMs).toISOString()}, node ${nodeOf(Number(id & 0xffffffffn))}, sequence ${sequence})`
  },
  timeMsOf: (id) => decode(id, layout).timestampMs,
  isOf: (id, { node }) => node === nodeOf(Number(id & 0xffffffffn)),
}

/** Each process has a lease, and makes ids in several threads, by all policies and on each engine. */
export const leases: Work = {
  program: fileURLToPath(new URL('./programs/chaos-process.js', import.meta.url)),
  environment: (slot) => ({ GRAUPEL_ENGINE: isByOption(slot) ? 'auto' : engineOf(slot) }),
  order: (slot, threads, pick) => ({
    lease: {
      windowMs: pick([600, 800, 1000, 2000]),
      maxClockSkewMs: 500,
      // A call may have to open a connection. With 24 busy processes on two processors, that took PostgreSQL
      // 0.1 s on average, and 0.6 s at times.
      callTimeoutMs: pick([500, 1000]),
      acquireTimeoutMs: pick([1000, 10_000]),
      ...(pick([true, false]) && { owner: `slot ${slot}` }),
    },
    policies: Array.from({ length: threads }, () => ({
      engine: isByOption(slot) ? engineOf(slot) : 'auto',
      onRollback: pick(['throw', 'wait', 'advance', 'advance', 'reuse', 'function']),
      onOverflow: pick(['throw', 'wait', 'advance', 'advance']),
      maxAheadMs: pick([0, 100, 1000, 5000]),
      maxWaitMs: pick([0, 20, 50, 300]),
      sequenceStart: pick(['zero', 'random', 'rotate']),
      // A steady clock that has followed a step forward stays ahead for sixteen times as long, and makes no
      // ids meanwhile.
      clock: hasFalseClock(slot) ? 'wall' : pick(['wall', 'steady']),
    })),
  }),
  subject: ids,
  survivesLosses: true,
  processFaultMs: 900,
  // A store that may forget makes its users wait for this time. They then work for the same time.
  serverFaultMs: 20_000,
  deadly: [],
  idsBeforeCopy: 0,
}

/** One half chooses the engine by the option, the other one by the environment. */
function isByOption(slot: number): boolean {
  return slot % 2 === 0
}

function engineOf(slot: number): string {
  return slot % 4 < 2 ? 'native' : 'js'
}
