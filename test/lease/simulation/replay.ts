import type { Bounds } from '../../../scripts/model.ts'
import { Group } from '../../../src/lease/group.js'
import { type Holding, LeaseProtocol } from '../../../src/lease/protocol.js'
import { writeRecord } from '../../../src/lease/record.js'
import { StoreCalls } from '../../../src/stores/calls.js'
import type { Store, StoreEntry } from '../../../src/stores/store.js'
import { Judge, type Rectangle, type Violation } from './judge.ts'

interface Outcome {
  readonly violation: Violation | undefined
  /** The step that the protocol does not take; `undefined` if it takes all steps. */
  readonly refused: string | undefined
}

interface Call {
  readonly name: string
  readonly words: readonly (string | undefined)[]
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

const epochMs = 1_000_000_000_000
/** A call that is not answered never ends; all other timers fire at once. */
const callTimeoutMs = 3_600_000
/** Longer than a call, so that the limit of a call is `callTimeoutMs` until a step gives up. */
const writeMs = 2 * callTimeoutMs

/**
 * A server, and processes that run the shipped protocol. Each call of the store waits until the trail says
 * what comes of it.
 */
class Replay {
  violation: Violation | undefined
  readonly judge = new Judge((violation) => {
    this.violation ??= violation
  })
  readonly group: Group
  readonly tickMs: number
  readonly bounds: Bounds
  entries = new Map<string, StoreEntry>()
  #copy: Map<string, StoreEntry> | undefined
  #life = 1
  #names = 0
  readonly #actors: Actor[]

  constructor(bounds: Bounds) {
    this.bounds = bounds
    // On a store that forgets, a window is as long as maxForgottenMs.
    this.tickMs = 10_000 / bounds.window
    const layout = { epochMs, tickMs: this.tickMs, maxTick: 2 ** 41 - 1, nodes: 1 }
    this.group = new Group('replayed', 'replayed ids', layout, {
      count: 1,
      at: (index) => index,
      has: (node) => node === 0,
    })
    const record = { nodes: 1, epochMs, tickMs: this.tickMs, attempt: 'of before' }
    const put = (key: string, incarnation: string, sinceMs: number) =>
      this.write(key, writeRecord(this.group.ids, { ...record, incarnation, sinceMs }), undefined)
    put(this.group.key, '', 0)
    if (!bounds.isDurable) put(this.group.lifeKeyOf(0), 'life 1', this.timeOf(1))
    this.#actors = [new Actor(0, this), new Actor(1, this)]
  }

  timeOf(tick: number): number {
    return epochMs + tick * this.tickMs
  }

  newName(): string {
    return `n${++this.#names}`
  }

  write(key: string, value: string, expected: string | undefined): string | undefined {
    if (this.entries.get(key)?.version !== expected) return undefined
    const version = this.newName()
    this.entries.set(key, { key, value, version })
    return version
  }

  /** Takes a step of the trail. @returns whether the protocol takes it, too */
  async take(step: string, later: readonly string[]): Promise<boolean> {
    const [who = '', ...words] = step.split(' ')
    if (who === '-') return this.#suffer(words)
    const own = later.find((other) => other.startsWith(`${who} `) && !other.endsWith(' issues'))
    await new Promise((resolve) => setImmediate(resolve))
    const isTaken = (this.#actors[Number(who)] as Actor).take(words, own === `${who} gives up`)
    await new Promise((resolve) => setImmediate(resolve))
    return isTaken
  }

  answer({ name, words: [key = '', value = '', expected] }: Call, word: string | undefined): unknown {
    if (name === 'read') return this.entries.get(key)
    if (name === 'list') return [...this.entries.values()].filter((entry) => entry.key.startsWith(key))
    if (name === 'incarnation') return `life ${this.#life}`
    if (name === 'nowMs') return this.timeOf(Number(word))
    return this.write(key, value, expected)
  }

  #suffer([what = '']: readonly string[]): true {
    if (what === 'cut') this.#copy = new Map(this.entries)
    if (what === 'reunited') this.#copy = undefined
    if (what === 'promoted') {
      this.entries = this.#copy as Map<string, StoreEntry>
      this.#copy = undefined
      this.#life++
    }
    const folder = this.group.folderOf(0)
    if (what === 'emptied') this.entries = new Map([...this.entries].filter(([key]) => !key.startsWith(folder)))
    return true
  }
}

/** A process of the trail, and after a crash the next. */
class Actor {
  readonly #number: number
  readonly #replay: Replay
  #monotonicMs = 0
  #wallMs = epochMs
  #life = 0
  #own: Rectangle | undefined
  #call: Call | undefined
  #late: Call | undefined
  /** Called with the words of the step that says what the holder does next. */
  #order: ((words: readonly string[]) => void) | undefined

  constructor(number: number, replay: Replay) {
    this.#number = number
    this.#replay = replay
    this.#live()
  }

  take([what = '', ...words]: readonly string[], givesUp: boolean): boolean {
    if (what === 'renews' || what === 'releases') {
      this.#order?.([what, ...words])
      return this.#order !== undefined
    }
    if (what === 'crashes') {
      this.#call = undefined
      this.#own = undefined
      this.#live()
    }
    if (what === 'holds') return this.#own?.floor === Number(words[0]) && this.#own.ceiling === Number(words[1])
    if (what === 'raises') return this.#own?.ceiling === Number(words[0])
    if (what === 'late') {
      const late = this.#late as Call
      this.#late = undefined
      return words[0] === 'drops' || this.#replay.answer(late, undefined) !== undefined
    }
    if (['nowMs', 'list', 'read', 'incarnation', 'write'].includes(what)) return this.#answer(what, words, givesUp)
    return true
  }

  #answer(what: string, [word]: readonly string[], givesUp: boolean): boolean {
    const call = this.#call
    if (call?.name !== what) return false
    const isOfLife = call.words[0] === this.#replay.group.lifeKeyOf(0)
    if (what === 'read' && isOfLife !== (word === 'life')) return false
    this.#call = undefined
    if (word === 'fails') call.reject(new Error('no answer'))
    else if (word === 'late') {
      this.#late = call
      call.reject(new Error('no answer'))
    } else {
      const answer = this.#replay.answer(call, word)
      if (what === 'nowMs') {
        this.#wallMs = answer as number
        // The clocks of the model go at one speed.
        this.#monotonicMs = Math.max(this.#monotonicMs, this.#wallMs - epochMs)
      }
      if (what === 'write' && (answer === undefined) !== (word === 'refused')) return false
      if (givesUp) this.#monotonicMs += 2 * writeMs
      if (word === 'unanswered') call.reject(new Error('no answer'))
      else call.resolve(answer)
    }
    return true
  }

  async #live(): Promise<void> {
    const life = ++this.#life
    const { judge, bounds, group, tickMs } = this.#replay
    const rules = {
      durable: bounds.isDurable,
      strict: false,
      windowMs: bounds.window * tickMs,
      maxClockSkewMs: bounds.isDurable ? 0 : tickMs,
      owner: `process ${life} of ${this.#number}`,
      writeMs,
    }
    const clock = {
      wallMs: () => this.#wallMs,
      monotonicMs: () => this.#monotonicMs,
      random: () => 0,
      newToken: () => this.#replay.newName(),
      later: (callback: () => void, ms: number) => {
        if (ms !== callTimeoutMs) queueMicrotask(callback)
        return () => {}
      },
    }
    const calls = new StoreCalls(this.#store(life), clock, callTimeoutMs)
    const protocol = new LeaseProtocol({ calls, group, rules, clock })
    for (let token = clock.newToken(); ; ) {
      const holding = await protocol.acquire(token).catch(() => undefined)
      if (holding === undefined || 'held' in holding) continue
      protocol.accept()
      this.#own = judge.holds(this.#number, 0, holding.record.floor, holding.record.ceiling)
      if ((await this.#hold(protocol, holding, this.#own)) !== 'lapsed') token = clock.newToken()
    }
  }

  async #hold(protocol: LeaseProtocol, first: Holding, own: Rectangle): Promise<'lapsed' | 'lost' | 'released'> {
    for (let holding = first; ; ) {
      const [what, tick] = await new Promise<readonly string[]>((resolve) => {
        this.#order = resolve
      })
      this.#order = undefined
      if (what === 'releases') {
        this.#replay.judge.ended(own, Math.max(own.floor, Number(tick)))
        await protocol.release(holding, Number(tick)).catch(() => {})
        return 'released'
      }
      const renewed = await protocol.renew(holding).catch(() => holding)
      if (typeof renewed === 'string') return renewed
      if (renewed !== holding) this.#replay.judge.raised(own, renewed.record.ceiling)
      holding = renewed
    }
  }

  #store(life: number): Store {
    const call = (name: string, ...words: (string | undefined)[]) =>
      new Promise<never>((resolve, reject) => {
        if (life !== this.#life) return
        const made: Call = { name, words, resolve: resolve as (answer: unknown) => void, reject }
        // The model has no record of the group.
        if (words[0] === this.#replay.group.key) made.resolve(this.#replay.answer(made, undefined))
        else this.#call = made
      })
    return {
      name: 'replayed',
      durable: this.#replay.bounds.isDurable,
      read: (key) => call('read', key),
      list: (folder) => call('list', folder),
      write: (key, value, expected) => call('write', key, value, expected),
      nowMs: (_signal, key) => call('nowMs', key),
      incarnation: (_signal, key) => call('incarnation', key),
    }
  }
}

/**
 * Lets the shipped protocol take the steps of a trail of Spin, up to the first step that it does not take.
 */
export async function replayTrail(steps: readonly string[], bounds: Bounds): Promise<Outcome> {
  const replay = new Replay(bounds)
  for (const [index, step] of steps.entries()) {
    const isTaken = await replay.take(step, steps.slice(index + 1))
    if (replay.violation !== undefined) break
    if (!isTaken) return { violation: undefined, refused: `${index}: ${step}` }
  }
  return { violation: replay.violation, refused: undefined }
}
