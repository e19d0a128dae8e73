import type { Core } from '../engine/engine.js'
import type { MoreNumbers, Progress, Round, Task } from '../numbers/source.js'
import type { CeilingWait } from './ceiling-wait.js'
import type { PolicyRunner, Task as RunnerTask } from './runner.js'

/** Milliseconds after which the clock is read again, however long the wait is: it may step, or be a function. */
const maxPauseMs = 50

/** Makes ids of a core that has none ready, as the policy decides. */
export class PolicyNumbers implements MoreNumbers {
  readonly #core: Core
  readonly #runner: PolicyRunner
  /** The task that waits, and the tick that it waits for; -1 before it waits. */
  #waiting: Task | undefined
  #untilTick = -1
  /** Set while the task waits for the ceiling. */
  #ceilingWait: CeilingWait | undefined

  constructor(core: Core, runner: PolicyRunner) {
    this.#core = core
    this.#runner = runner
  }

  finish(task: Task): void {
    this.#runner.run(new CoreTask(this.#core, task))
  }

  round(task: Task): Round {
    if (task !== this.#waiting) {
      this.#waiting = task
      this.#untilTick = -1
      this.#ceilingWait = undefined
    }
    const outcome = this.#runner.round(new CoreTask(this.#core, task), false)
    if (outcome === 'ceiling') {
      this.#ceilingWait ??= this.#runner.ceilingWait()
      return this.#ceilingWait.poll(false) ? 'again' : 1
    }
    this.#ceilingWait = undefined
    if (typeof outcome !== 'object') return outcome
    // A clock that stands still, or a timer that fires early, is waited for again: that is one wait.
    if (this.#untilTick !== outcome.untilTick) this.#runner.countWait(outcome)
    this.#untilTick = outcome.untilTick
    return this.#pauseFor(Math.min(outcome.waitMs, maxPauseMs))
  }

  /** Returns the milliseconds after which to read the clock again. */
  #pauseFor(waitMs: number): number {
    // A clock function may never go on, and is not called without a pause.
    if (this.#runner.hasInjectedClock) return Math.max(1, waitMs)
    // The last millisecond is spent in turns of the event loop, because timers are late by a fifth of a millisecond: with timers a
    // generator makes 87 % of 4 096 ids in each millisecond, and with turns 100 %. Other work on the loop is not delayed.
    return waitMs > 1 ? waitMs - 1 : 0
  }
}

/** Lets the policy do a task in the three ways that a core has. */
class CoreTask implements RunnerTask {
  readonly #core: Core
  readonly #task: Task

  constructor(core: Core, task: Task) {
    this.#core = core
    this.#task = task
  }

  proceed(): Progress {
    return this.#task.proceed()
  }

  grant(nowTick: number, limitTick: number): Progress {
    const core = this.#core
    return this.#task.proceed({
      step: () => core.grant(nowTick, limitTick),
      fill: (array, from, to) => core.fillGranted(array, from, to, nowTick, limitTick),
    })
  }

  unused(nowTick: number): Progress {
    const core = this.#core
    return this.#task.proceed({
      step: () => core.grantUnused(nowTick),
      fill: (array, from, to) => core.fillUnused(array, from, to, nowTick),
    })
  }
}
