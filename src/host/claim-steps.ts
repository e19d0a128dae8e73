import type { Claimant } from '../engine/claims.js'
import { GraupelError } from '../errors.js'
import { attempt, hasCode } from './attempt.js'
import { type ProcessIdentity, thisProcess } from './process.js'
import { randomBits } from './random.js'

// The claim of a key is a folder beside the key's page, and in it one file for each step of its history, named 1, 2, 3 and
// so on. A file is complete before it has its name, and never changes; the one with the highest number counts. Each names
// a process and a ceiling: that process makes no id from the ceiling on before the next step is there. A step is made by
// link(2), which gives a name to one file only: of two processes that make step 4 at once, one fails, and looks again.

const format = 1

/**
 * What the process of a step does: it counts the key; it has given the key back, and the ceiling is the first slot that it
 * did not issue; or it makes a page of the claim, or removes the claim, at this moment.
 */
export type Use = 'counts' | 'released' | 'hands over'

export interface Step extends Claimant, ProcessIdentity {
  readonly format: number
  /** In decimal, because JSON has no integers of 64 bits. */
  readonly ceiling: string
  readonly use: Use
}

export interface Latest {
  readonly number: number
  readonly says: Step
  /** The whole file. */
  readonly text: string
}

/** The step that counts; `undefined` where there is none. @throws GraupelError `ERR_STATE_CORRUPT`; what the system says */
export function latestStep(place: string): Latest | undefined {
  for (;;) {
    const number = Math.max(0, ...stepsIn(place))
    if (number === 0) return undefined
    const step = stepAt(place, number)
    // Removed since, because there is a later one.
    if (step !== undefined) return step
  }
}

/** The step with a number, whether it counts or not. */
export function stepAt(place: string, number: number): Latest | undefined {
  const text = textOf(place, number)
  return text === undefined ? undefined : { number, says: parse(place, number, text), text }
}

/**
 * Makes the step that follows `latest`; `undefined` where another process was faster.
 *
 * A process that sleeps before it links may make a number anew that others have left behind and removed. So a step counts
 * only if it is the highest after it was made, and the step before it still says what its maker has read: where the claim
 * has begun again meanwhile, that number may be there a second time.
 */
export function makeStep(
  claimant: Claimant,
  place: string,
  latest: Latest | undefined,
  ceiling: bigint,
  use: Use,
): Latest | undefined {
  const { linkSync, unlinkSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const { key, description, token } = claimant
  const number = (latest?.number ?? 0) + 1
  const says: Step = { format, key, description, ...thisProcess(), token, ceiling: `${ceiling}`, use }
  const text = `${JSON.stringify(says)}\n`
  const fresh = `${place}/.${number}.${randomBits().toString(16)}.new`
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
    linkSync(fresh, `${place}/${number}`)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  } finally {
    attempt(() => unlinkSync(fresh))
  }
  const isHighest = Math.max(...stepsIn(place)) === number
  if (isHighest && (latest === undefined || textOf(place, latest.number) === latest.text)) return { number, says, text }
  removeSteps(place, number, number)
  return undefined
}

/** Removes steps, the latest last, so that none before it seems to count; and the folder where it is empty then. */
export function removeSteps(place: string, last: number, first = 1): void {
  const { rmdirSync, unlinkSync } = process.getBuiltinModule('node:fs')
  const steps = attempt(() => stepsIn(place))?.filter((step) => step >= first && step <= last)
  for (const step of steps?.sort((a, b) => a - b) ?? []) attempt(() => unlinkSync(`${place}/${step}`))
  attempt(() => rmdirSync(place))
}

function stepsIn(place: string): number[] {
  const { readdirSync } = process.getBuiltinModule('node:fs')
  return readdirSync(place)
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
}

function textOf(place: string, number: number): string | undefined {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  try {
    return readFileSync(`${place}/${number}`, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function parse(place: string, number: number, text: string): Step {
  const says = attempt(() => JSON.parse(text) as Step)
  if (says?.format === format && /^\d{1,20}$/.test(says.ceiling) && Number.isInteger(says.pid)) return says
  throw new GraupelError(
    'ERR_STATE_CORRUPT',
    `the claim ${place}/${number} is damaged, or made by another version; it is not started afresh, because it is not known what was issued: use another node, or delete ${place} once the clock has certainly passed the last id`,
  )
}
