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

/** Each process makes numbers of one name in several threads, of segments that are small, so that all write the record often. */
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
        // More than all of them make from a copy of the store to the moment in which it is brought back.
        failoverGap: 1_000_000,
      },
      threads,
      burst,
      lifeMs: pick([2000, 10_000]),
    }),
    subject: numbers,
    // A store without the record begins at `start` for a process that has made nothing yet, and no gap says otherwise.
    survivesLosses: false,
    processFaultMs: 300,
    serverFaultMs: 4000,
    deadly: ['restored from an older copy'],
    // One copy is brought back once, and not before the record was written in the present life of the server: a gap is skipped
    // in each life, from where the record was in the last one, so that a copy that has missed a gap would be followed by the same
    // gap, and by numbers that were made. What is left of earlier lives is less than so many: in each process two segments and
    // one that is on its way, and what its threads, which are two at the mean, have not written yet.
    idsBeforeCopy: processes * (3 * maxStep + 2 * burst),
  }
}
