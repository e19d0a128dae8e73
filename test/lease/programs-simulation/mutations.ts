import type { Mutation } from '../../simulation/load.ts'
import type { Setting } from './world.ts'

/** A defect in what `park()`, `resume()`, `release()` and renewals do, and a seed whose world shows it. */
export interface Shown extends Mutation, Setting {
  readonly seed: number
}

const renewal = 'lease/renewal.ts'
const queue = 'lease/work-queue.ts'
const heldNode = 'lease/held-node.ts'
const hooks = 'lease/hooks.ts'
const phase = 'lease/phase.ts'

export const mutations: Shown[] = [
  {
    defect: 'a call does not abort the work before it',
    file: queue,
    from: 'this.#current.abort(reason)',
    to: '',
    seed: 1,
  },
  {
    defect: 'park() has no effect while resume() acquires a node',
    file: phase,
    from: "resuming: { park: 'parking',",
    to: 'resuming: {',
    seed: 1,
  },
  {
    defect: 'the machine that has a node is the machine of the last acquisition',
    file: heldNode,
    from: 'return this.#machine === machineGeneration()',
    to: 'return this.#machine !== undefined',
    seed: 2,
  },
  {
    defect: 'a node is given back by a machine that may be a copy',
    file: renewal,
    from: 'if (!isOriginal) this.#node.leave()',
    to: '',
    seed: 2,
  },
  {
    defect: 'a lease takes the park of another lease for a copy',
    file: hooks,
    from: 'if (step !== undefined && goesOn(other)) other.goOn(step)',
    to: '',
    isOrderly: true,
    seed: 1,
  },
  {
    defect: 'a resumed lease takes the resume of another lease for a copy',
    file: renewal,
    from: 'this.#announce((other) => other.resumedAt > this.#parkedAt)',
    to: 'this.#announce(() => false)',
    isOrderly: true,
    seed: 1,
  },
]
