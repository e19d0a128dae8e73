import type { Known } from '../../simulation/noticed.ts'

const term = 'lease/term.ts'
const watch = 'lease/watch.ts'
const nodeSearch = 'lease/node-search.ts'

/** Defects in what makes answers of a strict group come in order. */
export const mutations: Known[] = [
  {
    defect: 'the holder has no deadline',
    file: term,
    from: 'return this.remainingMs === 0',
    to: 'return this.remainingMs < 0',
    seed: 1,
  },
  {
    defect: 'the deadline is that of the wall clock',
    file: term,
    from: 'Math.min(this.#end.monotonicMs - monotonicMs, this.#end.wallMs - wallMs)',
    to: 'this.#end.wallMs - wallMs',
    seed: 10,
  },
  {
    defect: "the store's clock decides when a node is free",
    file: nodeSearch,
    from: 'const isWatched = this.#parts.rules.strict && !record.isReleased',
    to: 'const isWatched = false',
    seed: 7,
  },
  {
    defect: 'a record that was renewed counts as unchanged',
    file: watch,
    from: 'if (seen?.version === version)',
    to: 'if (seen !== undefined)',
    seed: 43,
  },
]
