import type { SegmentMemory, Taken } from '../../src/segments/memory.js'
import { loadModule, type Mutation } from '../simulation/load.ts'

/**
 * A segment of the model: its first number, its size, and the number of takes after which the next segment is
 * late.
 */
interface ModelSegment {
  readonly first: bigint
  readonly count: number
  readonly fetchAt: number
}

/**
 * Threads on one memory: the counts that each taker requests in turn, while another thread adds segments if
 * there is room.
 */
export interface Model {
  readonly stride: number
  readonly segments: readonly ModelSegment[]
  /** The number of segments at the beginning: 1 or 2. */
  readonly begun: number
  /** The number of times that the other thread checks for room. */
  readonly attempts: number
  readonly takers: readonly (readonly number[])[]
  /**
   * The number of calls in whose middle another thread may run. All orders would be too many, and few
   * interruptions show nearly all defects.
   */
  readonly turns: number
}

interface Thread {
  /** The number of completed calls. */
  readonly calls: number
  /** The answers to the operations of the present call. */
  readonly answers: readonly bigint[]
  /** Whether the memory was empty at some moment of the present call. */
  readonly sawNone: boolean
}

interface State {
  readonly words: BigUint64Array
  readonly added: number
  /** The places that were taken. */
  readonly places: readonly number[]
  /** The takers, and the thread that adds. */
  readonly threads: readonly Thread[]
  /** The thread whose turn it is. */
  readonly turn: number
  readonly turnsLeft: number
}

/** Thrown when a call has done its step. */
const yielded = new Error('the call goes on later')

/**
 * Atomics that do one operation, and then stop the call. A call depends only on the answers of its
 * operations, so a repetition with the same answers reaches the same point.
 */
class SteppedAtomics {
  #answers: bigint[] = []
  #at = 0
  #isStepped = true

  begin(answers: readonly bigint[]): void {
    this.#answers = [...answers]
    this.#at = 0
    this.#isStepped = false
  }

  get answers(): readonly bigint[] {
    return this.#answers
  }

  load(words: BigUint64Array, at: number): bigint {
    return this.#step(() => words[at] as bigint)
  }

  store(words: BigUint64Array, at: number, value: bigint): bigint {
    return this.#step(() => {
      words[at] = value
      return value
    })
  }

  compareExchange(words: BigUint64Array, at: number, expected: bigint, value: bigint): bigint {
    return this.#step(() => {
      const found = words[at] as bigint
      if (found === expected) words[at] = value
      return found
    })
  }

  #step(operation: () => bigint): bigint {
    const known = this.#answers[this.#at++]
    if (known !== undefined) return known
    if (this.#isStepped) throw yielded
    this.#isStepped = true
    const answer = operation()
    this.#answers.push(answer)
    return answer
  }
}

/**
 * Runs all orders of the threads' operations that the model's turns allow, with the shipped class or with a
 * defect.
 */
export async function explore(model: Model, mutation?: Mutation): Promise<{ violation?: string; states: number }> {
  const atomics = new SteppedAtomics()
  const entry = new URL('../../src/segments/memory.ts', import.meta.url)
  const module = await loadModule<{ SegmentMemory: typeof SegmentMemory }>(entry, {
    mutation,
    globals: { Atomics: atomics },
  })
  const make = () => {
    const memory = module.SegmentMemory.make(model.stride)
    return { memory, words: new BigUint64Array(memory.memory) }
  }
  const exploration = new Exploration(model, atomics, make())
  const violation = exploration.run()
  return { ...(violation === undefined ? {} : { violation }), states: exploration.states }
}

class Exploration {
  readonly #model: Model
  readonly #atomics: SteppedAtomics
  readonly #memory: SegmentMemory
  readonly #words: BigUint64Array
  readonly #seen = new Set<string>()
  /** The place after the last number of the first, the second, … segment. */
  readonly #ends: number[] = []

  constructor(
    model: Model,
    atomics: SteppedAtomics,
    { memory, words }: { memory: SegmentMemory; words: BigUint64Array },
  ) {
    this.#model = model
    this.#atomics = atomics
    this.#memory = memory
    this.#words = words
    for (const { count } of model.segments) this.#ends.push((this.#ends.at(-1) ?? 0) + count)
  }

  get states(): number {
    return this.#seen.size
  }

  /** The first violation, if there is one. */
  run(): string | undefined {
    const open = [this.#begin()]
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      let isOver = true
      for (let thread = 0; thread < state.threads.length; thread++) {
        const next = this.#step(state, thread)
        if (typeof next === 'string') return next
        if (next === undefined) continue
        isOver = false
        if (next.turnsLeft < 0) continue
        const key = keyOf(next)
        if (this.#seen.has(key)) continue
        this.#seen.add(key)
        open.push(next)
      }
      const { places, words } = state
      if (isOver && places.length !== Number(words[0])) return `${words[0]} are taken, and given were ${places}`
    }
    return undefined
  }

  #begin(): State {
    const { begun, takers } = this.#model
    for (let added = 0; added < begun; added++) this.#alone(() => this.#add(added))
    const thread = { calls: 0, answers: [], sawNone: false }
    return {
      words: this.#words.slice(),
      added: begun,
      places: [],
      threads: [...takers, 'adds'].map(() => thread),
      turn: 0,
      turnsLeft: this.#model.turns,
    }
  }

  /** Runs a call without interruption. */
  #alone(call: () => void): void {
    for (let answers: readonly bigint[] = []; ; answers = this.#atomics.answers) {
      this.#atomics.begin(answers)
      if (this.#advance(call) !== yielded) return
    }
  }

  /** The next action of a thread; `undefined` if it has ended, and a text for a violation. */
  #step(state: State, index: number): State | string | undefined {
    const { takers, attempts } = this.#model
    const thread = state.threads[index] as Thread
    const most = takers[index]
    if (thread.calls === (most?.length ?? attempts)) return undefined
    this.#words.set(state.words)
    this.#atomics.begin(thread.answers)
    const call: () => unknown =
      most === undefined ? () => this.#add(state.added) : () => this.#memory.take(most[thread.calls] ?? 1)
    const hadNone = this.#hasNone()
    const result = this.#advance(call)
    const hasNone = this.#hasNone()
    const sawNone = (thread.answers.length > 0 && thread.sawNone) || hadNone || hasNone
    const isOver = result !== yielded
    const own = isOver
      ? { calls: thread.calls + 1, answers: [], sawNone: false }
      : { calls: thread.calls, answers: this.#atomics.answers, sawNone }
    const threads = state.threads.map((other, i) => {
      if (i === index) return own
      return other.answers.length > 0 && hasNone ? { ...other, sawNone: true } : other
    })
    let { places, added } = state
    if (isOver && most !== undefined) {
      const found = this.#placesOf(result as Taken | undefined, sawNone, places)
      if (typeof found === 'string') return found
      places = [...places, ...found].sort((a, b) => a - b)
    }
    if (isOver && most === undefined && result === true) added++
    const isInterrupted = index !== state.turn && (state.threads[state.turn] as Thread).answers.length > 0
    const turnsLeft = state.turnsLeft - (isInterrupted ? 1 : 0)
    return { words: this.#words.slice(), added, places, threads, turn: index, turnsLeft }
  }

  #advance(call: () => unknown): unknown {
    try {
      return call()
    } catch (error) {
      if (error === yielded) return yielded
      throw error
    }
  }

  #add(added: number): boolean {
    const segment = this.#model.segments[added]
    if (segment === undefined || !this.#memory.hasRoom) return false
    this.#memory.add(segment, segment.fetchAt, 0)
    return true
  }

  #hasNone(): boolean {
    const [taken = 0n, segments = 0n] = this.#words
    return Number(taken) >= (this.#ends[Number(segments) - 1] ?? 0)
  }

  /** Returns the places of the numbers that a call has taken, or a violation. */
  #placesOf(taken: Taken | undefined, sawNone: boolean, before: readonly number[]): number[] | string {
    if (taken === undefined)
      return sawNone ? [] : 'a call is told that no number is left, and some were at every moment'
    const { stride, segments } = this.#model
    const found: number[] = []
    for (let i = 0; i < taken.count; i++) {
      const number = taken.first + BigInt(i * stride)
      const at = segments.findIndex(
        ({ first, count }) =>
          number >= first && number < first + BigInt(count * stride) && (number - first) % BigInt(stride) === 0n,
      )
      const segment = segments[at]
      if (segment === undefined) return `a call has the number ${number}, which no segment has`
      const within = Number(number - segment.first) / stride
      if (within >= segment.fetchAt !== taken.isLate) return `the number ${number} is told to be late: ${taken.isLate}`
      const place = (this.#ends[at] as number) - segment.count + within
      if (before.includes(place) || found.includes(place)) return `two calls have the number ${number}`
      found.push(place)
    }
    return taken.count > 0 ? found : 'a call has no number'
  }
}

function keyOf({ words, added, places, threads, turn, turnsLeft }: State): string {
  const parts = threads.map(({ calls, answers, sawNone }) => `${calls} ${sawNone} ${answers}`)
  return `${turn} ${turnsLeft}|${words}|${added}|${places}|${parts.join('|')}`
}
