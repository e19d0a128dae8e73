import { GraupelError } from '../core/errors.js'
import type { Claimant } from '../engine/claims.js'
import { attempt, hasCode } from './attempt.js'
import { ownFolder } from './folder.js'
import { fileNameIn } from './name.js'
import { readContents } from './own-file.js'
import { type ProcessIdentity, thisProcess } from './process.js'
import { randomBits } from './random.js'

// The claim of a key is a folder beside the key's page, with a file for each step of its history. The name of a step is its
// number and the token of its predecessor, such as 8.f3a1; the token of a step is random. A step is complete before it gets
// its name by link(2), so exactly one step can follow another. A step without its predecessor does not count: it was made by
// a process that slept while others went on. The first step comes into being together with its folder, by rename(2).
// docs/state-proof.md has the argument.

const format = 1
/** Longer numbers are not exact in JavaScript. */
const namePattern = /^([1-9]\d{0,14})\.([0-9a-f]{1,16})$/
/** A listing is read again if another process has removed a step since. */
const maxListings = 100
const maxSlot = 2n ** 64n - 1n
/** Longer than any step. */
const maxBytes = 64 * 1024
const tokenPattern = /^[0-9a-f]{1,16}$/

/**
 * The meaning of a step. `counts`: its process issues slots below the ceiling. `released`: its process has issued all slots
 * below the ceiling, and counts no more. `page`: the page beside the claim may count from the ceiling on.
 */
export type Use = 'counts' | 'released' | 'page'
const uses: readonly unknown[] = ['counts', 'released', 'page'] satisfies Use[]

export interface Step extends Claimant, ProcessIdentity {
  readonly format: number
  readonly token: string
  /** In decimal, because JSON has no integers of 64 bits. */
  readonly ceiling: string
  readonly use: Use
}

/** The step of a claim that counts. */
export interface Latest {
  readonly number: number
  readonly name: string
  readonly says: Step
  /** Names of earlier steps. */
  readonly older: readonly string[]
}

interface Named {
  readonly number: number
  readonly previous: string
  readonly name: string
}

/**
 * The step with the highest number whose predecessor is there.
 *
 * @returns `undefined` if there is no claim.
 * @throws GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_UNAVAILABLE`; errors of the system
 */
export function latestStep(place: string): Latest | undefined {
  for (let listing = 0; listing < maxListings; listing++) {
    try {
      return latestAmong(place, namesIn(place))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the steps of the claim ${place} cannot be read: they were removed ${maxListings} times between listing and reading; try again, and look what changes the folder`,
  )
}

/** The name of the step that can follow. */
export function nameAfter({ number, says }: Pick<Latest, 'number' | 'says'>): string {
  return `${number + 1}.${says.token}`
}

/** Makes the step that follows `latest`, or the first one; `undefined` if another process was faster. */
export function makeStep(
  { key, description, owner }: Claimant,
  place: string,
  latest: Latest | undefined,
  ceiling: bigint,
  use: Use,
): Latest | undefined {
  const { linkSync, statSync, unlinkSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const token = randomBits().toString(16)
  const says: Step = { format, key, description, owner, token, ...thisProcess(), ceiling: `${ceiling}`, use }
  const text = `${JSON.stringify(says)}\n`
  if (latest === undefined) return makeFirst(place, says, text)
  const name = nameAfter(latest)
  const fresh = `${place}/.${token}.new`
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
    linkSync(fresh, `${place}/${name}`)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  } finally {
    attempt(() => unlinkSync(fresh))
  }
  // Others went on meanwhile if the predecessor is gone. The step is left where it is: they may have followed it.
  if (statSync(`${place}/${latest.name}`, { throwIfNoEntry: false }) === undefined) return undefined
  return { number: latest.number + 1, name, says, older: [...latest.older, latest.name] }
}

/** Removes the steps before the predecessor of a step, the first one first. Their names never come back. */
export function removeOlder(place: string, { older }: Latest): void {
  const { unlinkSync } = process.getBuiltinModule('node:fs')
  for (const name of older.slice(0, -1)) attempt(() => unlinkSync(`${place}/${name}`))
}

/** Removes a claim with all its steps at once, by another name. */
export function removeChain(place: string): void {
  const { renameSync, rmSync } = process.getBuiltinModule('node:fs')
  const away = besideOf(place, randomBits().toString(16))
  renameSync(place, away)
  rmSync(away, { recursive: true, force: true })
}

function makeFirst(place: string, says: Step, text: string): Latest | undefined {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const fresh = besideOf(place, says.token)
  const name = `1.${says.token}`
  try {
    ownFolder(fresh)
    writeFileSync(`${fresh}/${name}`, text, { flag: 'wx', mode: 0o600 })
    renameSync(fresh, place)
    return { number: 1, name, says, older: [] }
  } catch (error) {
    attempt(() => rmSync(fresh, { recursive: true, force: true }))
    // Windows says EPERM if there is a folder.
    if (hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST') || hasCode(error, 'EPERM')) return undefined
    throw error
  }
}

/** A name beside a claim that does not count as one. */
function besideOf(place: string, token: string): string {
  const name = fileNameIn(place)
  return `${place.slice(0, -name.length)}.${name}.${token}.new`
}

function namesIn(place: string): readonly string[] | undefined {
  const { readdirSync } = process.getBuiltinModule('node:fs')
  try {
    return readdirSync(place)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws what the system says, such as `ENOENT` for a step that was removed since it was listed */
function latestAmong(place: string, names: readonly string[] | undefined): Latest | undefined {
  const steps = (names ?? []).flatMap((name) => parseName(name) ?? []).sort((a, b) => b.number - a.number)
  for (const { name, number, previous } of steps) {
    const isCounted =
      number === 1 || steps.some((other) => other.number === number - 1 && read(place, other.name).token === previous)
    if (!isCounted) continue
    const older = steps.filter((other) => other.number < number).map((other) => other.name)
    return { number, name, says: read(place, name), older: older.reverse() }
  }
  if (names === undefined || names.length === 0) return undefined
  throw damagedClaim(place, 'has no step that counts')
}

function parseName(name: string): Named | undefined {
  const [, digits, previous] = namePattern.exec(name) ?? []
  return digits === undefined ? undefined : { number: Number(digits), previous: previous as string, name }
}

/** @throws what the system says, such as `ENOENT` for a step that was removed since it was listed */
function read(place: string, name: string): Step {
  const path = `${place}/${name}`
  const { bytes } = readContents(path, maxBytes, (stats) => {
    if (!stats.isFile()) throw damagedClaim(path, 'is not a plain file')
  })
  const text = bytes.toString()
  const says = attempt(() => JSON.parse(text) as Step)
  if (says?.format !== format || !isStep(says)) throw damagedClaim(path, 'is damaged, or of another version')
  if (/^\d{1,20}$/.test(says.ceiling) && BigInt(says.ceiling) <= maxSlot) return says
  throw damagedClaim(path, `has the ceiling ${says.ceiling}, which is no number of 64 bits`)
}

function isStep({ key, description, owner, bootId, ceiling, token, use, pid, pidNamespace, startTime }: Step): boolean {
  return (
    [key, description, owner, token, bootId, ceiling].every((text) => typeof text === 'string') &&
    tokenPattern.test(token) &&
    uses.includes(use) &&
    Number.isInteger(pid) &&
    pid > 0 &&
    [pidNamespace, startTime].every((number) => Number.isInteger(number))
  )
}

/** The error for a claim, or a step of one, that cannot be what graupel wrote. */
export function damagedClaim(path: string, detail: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_CORRUPT',
    `the claim ${path} ${detail}, so it is not known which ids were made; use another node, or delete the claim's folder once the clock has certainly passed the last id`,
  )
}
