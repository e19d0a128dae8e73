import type { CoreSpec, IdArray } from '../../state/engine.js'
import type { IdGeometry, IdWriter } from './id-writer.js'
import { type Reserved, SequenceStart, type State } from './state.js'
import { endRun, type Run, type ThreadState, type ThreadStates } from './thread-states.js'

let lastId = 0

/** The lowest ceiling: no id has slot 0. A ceiling of 0 would be no ceiling. */
const lowestCeiling = 1n

/**
 * Makes the reservations of one generator, and the thread's runs of them, and fills arrays. Not the hot path.
 */
export class Reserver {
  /** Names the generator as the holder of a run. */
  readonly id = ++lastId
  /** How many reservations the generator has made. */
  reservations = 0
  /** Whether the state is below the ceiling of a lease. */
  readonly isLeased: boolean
  readonly #own: ThreadState
  /** `undefined` for a sequence that begins with 0. */
  readonly #start: SequenceStart | undefined

  /** @throws GraupelError as {@link Claims} says, if the state is of the host. */
  constructor(spec: CoreSpec, states: ThreadStates) {
    this.#own = states.of(spec)
    this.isLeased = spec.state.kind === 'lease'
    const { state, claim } = this.#own
    const { sequenceStart, seed, sequenceBits } = spec
    this.#start = sequenceStart === 'zero' ? undefined : new SequenceStart(sequenceStart, seed, sequenceBits)
    state.enter()
    try {
      // A generator with a lease issues nothing before the lease has raised the ceiling.
      if (this.isLeased) state.raiseCeiling(lowestCeiling)
      if (spec.state.kind === 'host') claim?.open(states.sleep, spec.openTimeoutMs)
    } catch (error) {
      this.close()
      throw error
    }
  }

  get state(): State {
    return this.#own.state
  }

  get run(): Run {
    return this.#own.run
  }

  get geometry(): IdGeometry {
    return this.#own.geometry
  }

  get writer(): IdWriter {
    return this.#own.writer
  }

  /** The path of the key's claim; `undefined` if there is no claim. */
  get path(): string | undefined {
    return this.#own.claim?.path
  }

  /** Reserves the thread's next run. */
  reserveRun(nowTick: number, limitTick: number): Reserved {
    const size = this.#nextSize(nowTick)
    const reserved = this.#reserve(nowTick, () => this.state.reserve(nowTick, limitTick, size, true, this.#start))
    if (reserved === 'reserved') this.#beginRun(nowTick, size, false)
    return reserved
  }

  /**
   * Reserves a run of unused slots of a past tick, for this generator alone. @param size - By default the
   * size of the next run.
   */
  reserveUnusedRun(nowTick: number, size = this.#nextSize(nowTick)): Reserved {
    const reserved = this.#reserve(nowTick, () => this.state.reserveUnused(nowTick, size))
    if (reserved === 'reserved') this.#beginRun(nowTick, size, true)
    return reserved
  }

  /** Reserves up to `want` slots. They are in `state.range`, not in the run. */
  reserveRange(nowTick: number, limitTick: number, want: number): Reserved {
    return this.#reserve(nowTick, () => this.state.reserve(nowTick, limitTick, want, false, this.#start))
  }

  /** Fills from the rest of the run and from one reservation, and returns how many. */
  fill(array: IdArray, from: number, to: number, nowTick: number, limitTick: number, writer: IdWriter): number {
    const drained = this.drain(array, from, to, nowTick, writer)
    if (from + drained === to) return drained
    let reserved: Reserved
    try {
      reserved = this.reserveRange(nowTick, limitTick, to - from - drained)
    } catch (error) {
      // The ids in the array are counted first. The next call meets the error again.
      if (drained > 0) return drained
      throw error
    }
    if (reserved !== 'reserved') return drained
    // The rest of the run lies below the range, so ids would descend if a step of the clock made it usable
    // again.
    endRun(this.run)
    const { range } = this.state
    writer.writeRange(array, from + drained, range)
    return drained + range.count
  }

  /** Fills from the rest of the run, and returns how many. */
  drain(array: IdArray, from: number, to: number, nowTick: number, writer: IdWriter): number {
    const run = this.run
    const isUsable =
      nowTick <= run.tick && run.tick - nowTick <= run.span && (run.holder === 0 || run.holder === this.id)
    const count = isUsable ? Math.min(to - from, run.end - run.sequence) : 0
    if (count > 0) {
      const { tick, sequence } = run
      // Before they are written, because the call may end there, as in `#beginRun`.
      run.sequence += count
      writer.writeRange(array, from, { tick, sequence, count })
    }
    return count
  }

  /** Ends the generator. The last generator of the process on this key gives the key back. */
  close(): void {
    const { state, claim } = this.#own
    if (claim === undefined) state.leave()
    else claim.leave()
  }

  /**
   * Reserves, and raises the ceiling of a claim when it is met.
   *
   * @throws GraupelError as {@link Claims} says
   */
  #reserve(nowTick: number, reserve: () => Reserved): Reserved {
    const { claim } = this.#own
    claim?.check(nowTick)
    let reserved = reserve()
    while (reserved === 'ceiling' && claim !== undefined) {
      claim.take(nowTick)
      reserved = reserve()
    }
    if (reserved === 'reserved') this.reservations++
    return reserved
  }

  /** Runs double within a tick, up to a 64th of it; `NextSize` of `generator.h` has the reason. */
  #nextSize(nowTick: number): number {
    const { size, tick, span } = this.run
    if (size === 0 || tick - span !== nowTick) return 1
    return Math.max(1, Math.min(size * 2, Math.floor(2 ** this.geometry.sequenceBits / 64)))
  }

  /**
   * Makes the range that was just reserved the thread's run.
   *
   * A `timeout` of `node:vm` or a debugger may end the program at any call of a function, and the thread goes
   * on. So the run is empty until all of it is set, and no function is called after its base.
   */
  #beginRun(nowTick: number, size: number, reused: boolean): void {
    const { run, writer, id, geometry } = this
    const { tick, sequence, count } = this.state.range
    const { epochMs, tickMs } = geometry
    endRun(run)
    writer.setBase(run, tick)
    run.tick = tick
    run.span = tick - nowTick
    run.fromMs = epochMs + nowTick * tickMs
    run.untilMs = epochMs + (tick + 1) * tickMs
    run.size = size
    // Slots of another tick than the present are for the policy that obtained them.
    run.holder = !reused && tick === nowTick ? 0 : id
    run.reused = reused
    run.sequence = sequence
    run.end = sequence + count
  }
}
