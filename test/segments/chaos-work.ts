import { fileURLToPath } from 'node:url'
import type { Subject } from '../chaos/proof.ts'
import type { Work } from '../chaos/work.ts'

const numbers: Subject = {
  partOf: (high, low) => high * 2 ** 16 + (low >>> 16),
  firstOf: (part) => BigInt(part) << 16n,
  // The first is 1.
  isPossible: (high, low) => high > 0 || low > 0,
  tell: String,
}

/**
 * Each process makes numbers of one name in several threads. The segments are small, so that all processes
 * write the record often.
 */
export function segmentsOf(processes: number): Work {
  const maxStep = 200
  const burst = 300
  return {
    program: fileURLToPath(new URL('./programs/chaos-process.js', import.meta.url)),
    order: (_slot, threads, pick) => ({
      segments: {
        name: 'orders',
        step: pick([10, 50, 200]),
        minStep: 10,
        maxStep,
        batchMs: pick([200, 1000]),
        prefetchAt: pick([0, 0.5, 0.8, 1]),
        callTimeoutMs: pick([200, 500, 1000]),
        // The gap exceeds the numbers that all processes make between a copy of the store and its
        // restoration.
        failoverGap: 1_000_000,
      },
      threads,
      burst,
      lifeMs: pick([2000, 10_000]),
    }),
    subject: numbers,
    // If a store has lost the record, a new process begins at `start`, and no gap prevents that.
    survivesLosses: false,
    processFaultMs: 300,
    serverFaultMs: 4000,
    deadly: ['restored from an older copy'],
    // A copy is restored once, and not before the record was written in the server's present life. In each
    // life a gap is skipped from the position of the record in the last life. So a copy without a gap would
    // be followed by the same gap, and by numbers that were made already. Fewer numbers than this are left of
    // earlier lives: in each process two segments, a segment that is being fetched, and the numbers that its
    // threads, two on average, have not written yet.
    idsBeforeCopy: processes * (3 * maxStep + 2 * burst),
  }
}
