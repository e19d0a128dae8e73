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
const acquisition = 'lease/acquisition.ts'

export const mutations: Shown[] = [
  {
    defect: 'a call does not abort the work before it',
    file: queue,
    from: 'before.abort(reason)',
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
    from: 'return this.#generation === readGeneration()',
    to: 'return this.#generation !== undefined',
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
    from: 'if (change !== undefined && goesOn(other)) other.goOn(change)',
    to: '',
    isOrderly: true,
    seed: 1,
  },
  {
    defect: 'a resumed lease takes the resume of another lease for a copy',
    file: renewal,
    from: 'this.#announce(goesOn)',
    to: 'this.#announce(() => false)',
    isOrderly: true,
    seed: 1,
  },
  {
    defect: 'a node is used that was acquired right before park() was called',
    file: renewal,
    from: 'signal?.throwIfAborted()',
    to: '',
    isOrderly: true,
    seed: 5,
  },
  {
    defect: 'a parked acquisition leaves its node',
    file: renewal,
    from: 'if (change !== undefined) this.#acquisition.goOn(change)',
    to: '',
    isOrderly: true,
    seed: 1,
  },
  {
    defect: 'a copy abandons the attempt of the original',
    file: acquisition,
    from: 'if (this.isOnSameMachine) await this.protocol.abandon(',
    to: 'await this.protocol.abandon(',
    copiesAtAnswers: true,
    seed: 2,
  },
  {
    defect: 'a copy that has begun again abandons the attempt of the original',
    file: 'lease/protocol.ts',
    from: 'if (this.#tried?.token !== token) return',
    to: 'if (this.#tried === undefined) return',
    copiesAtAnswers: true,
    seed: 159,
  },
]
