import type { Model } from './memory-model.ts'

const segment = (first: bigint, count: number, fetchAt: number) => ({ first, count, fetchAt })
const short = [segment(100n, 1, 0), segment(200n, 1, 1), segment(300n, 1, 1), segment(400n, 1, 0), segment(500n, 1, 1)]

/** A thread that is interrupted while other threads use up all numbers and a segment is half added. */
export const overtaken: Model = { stride: 1, segments: short, begun: 2, attempts: 2, takers: [[1], [1, 1]], turns: 2 }
export const usedUp: Model = { stride: 1, segments: short, begun: 2, attempts: 2, takers: [[1], [1, 1, 1]], turns: 1 }
export const strides: Model = {
  stride: 7,
  segments: [segment(100n, 2, 1), segment(50n, 1, 0), segment(300n, 2, 2), segment(400n, 1, 0)],
  begun: 1,
  attempts: 2,
  takers: [
    [1, 2],
    [2, 1],
  ],
  turns: 1,
}
