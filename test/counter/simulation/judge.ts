import { periodAt } from '../../../src/counter/period.js'
import type { Position } from '../../../src/counter/record.js'
import { readOffset } from '../../../src/pattern/calendar.js'
import type { Process } from './process.ts'
import type { World } from './world.ts'

interface Given {
  readonly process: number
  readonly isTake: boolean
}

/** The consecutive counts that a write has taken, with both ends. */
interface Applied {
  readonly process: number
  readonly period: string
  readonly first: number
  readonly last: number
}

/** Records the numbers of callers, and finds violations. */
export class Judge {
  violation: string | undefined
  issued = 0
  readonly #world: World
  readonly #applied: Applied[] = []
  /** The numbers of callers by period and count. */
  readonly #given = new Map<string, Given>()
  /** The last count that each process gave to a call of one number. */
  readonly #last = new Map<number, readonly [period: string, count: number]>()

  constructor(world: World) {
    this.#world = world
  }

  /** The number of periods with numbers. */
  get periods(): number {
    return new Set(this.#applied.map(({ period }) => period)).size
  }

  /** Checks a write that the server has applied. */
  applied(process: number, before: string | undefined, value: string): void {
    const met = before === undefined ? undefined : (JSON.parse(before) as Position)
    const { period, count } = JSON.parse(value) as Position
    const first = met?.period === period ? met.count + 1 : this.#world.shape.start
    this.#applied.push({ process, period, first, last: count })
  }

  /** Checks the texts that a caller has got. */
  gave(process: number, texts: readonly string[], isTake: boolean, fromMs: number): void {
    const { reset, hasTakes, durable } = this.#world.shape
    let before: number | undefined
    for (const text of texts) {
      const [count = '', period = ''] = text.split(' ').reverse()
      const number = Number(count)
      const key = `${period} ${number}`
      this.issued++
      const other = this.#given.get(key)
      if (other !== undefined && (durable || other.process === process)) {
        this.#fail(`${key} was given to processes ${other.process} and ${process}`)
      }
      this.#given.set(key, { process, isTake })
      if (before !== undefined && number !== before + 1) this.#fail(`${texts} are not in a row`)
      before = number
      const [lastPeriod, lastCount] = this.#last.get(process) ?? ['', -1]
      const isBehind = period < lastPeriod || (period === lastPeriod && number <= lastCount)
      if (!hasTakes && isBehind) this.#fail(`process ${process} gave ${key} after ${lastPeriod} ${lastCount}`)
      this.#last.set(process, [period, number])
      if (reset !== 'never') this.#checkTime(period, fromMs)
    }
  }

  /** Checks the error of a call, which only some reasons allow. */
  failed(error: unknown): void {
    const { code } = error as { code?: string }
    if (code === 'ERR_STORE_UNAVAILABLE') return
    this.#fail(`a call ended with ${code}: ${error}`)
  }

  /** Checks that a number is missing only if its process has crashed or its period was over. */
  end(processes: readonly Process[]): void {
    if (!this.#world.shape.durable) return
    const missing = new Map<number, number>()
    for (const { process, period, first, last } of this.#applied) {
      for (let count = first; count <= last; count++) {
        if (!this.#given.has(`${period} ${count}`)) missing.set(process, (missing.get(process) ?? 0) + 1)
      }
    }
    for (const process of processes) {
      const { number, isDead, missed, counter } = process
      const count = missing.get(number) ?? 0
      const lost = counter?.stats().lost ?? 0
      if (isDead ? count > missed : count !== lost) {
        this.#fail(
          `${count} numbers of process ${number} are missing, which ${isDead ? `crashed with ${missed} under way` : `lost ${lost}`}`,
        )
      }
    }
  }

  /** Checks that a number has the date of a moment between its call and its answer. */
  #checkTime(period: string, fromMs: number): void {
    const { reset, timeZone, skewMs = 0 } = this.#world.shape
    const offset = readOffset(timeZone)
    const first = periodAt(fromMs - skewMs, reset, offset)
    const last = periodAt(this.#world.trueMs() + skewMs, reset, offset)
    if (period < first || period > last) this.#fail(`a number of ${period} was taken between ${first} and ${last}`)
  }

  #fail(text: string): void {
    this.violation ??= text
    this.#world.finish()
  }
}
