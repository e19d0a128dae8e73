import { defineLayout } from 'graupel'

/**
 * Few nodes, so that they are used again and again; few sequence numbers, so that ids fill the ticks of a
 * node: two that hold it at once make equal ids within milliseconds.
 */
export const layout = defineLayout({
  name: 'chaos',
  epochMs: Date.UTC(2025, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 5],
    ['sequence', 7],
  ],
})

/** The nodes that may be leased. */
export const nodes = /** @type {const} */ ([3, 20])
