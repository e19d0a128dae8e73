import { GraupelError } from '../core/errors.js'
import type { Claimant } from '../state/claims.js'
import { damagedState } from '../state/errors.js'
import type { Identity } from '../state/key.js'
import { fileNameIn, ownFolder } from './folder.js'
import { type ProcessIdentity, thisProcess } from './process.js'
import { hasCode, randomBits, readContents, tryTo } from './system.js'

// The claim of a key is a folder beside the key's page, with a file for each link of its history. The name of
// a link is its number and the token of its predecessor, such as 8.f3a1. Exactly one link can follow another,
// because link(2) gives a link its name. docs/state-format.md has the rules, docs/state-proof.md the
// argument.

const format = 1
/** Longer numbers are not exact in JavaScript. */
const namePattern = /^([1-9]\d{0,14})\.([0-9a-f]{1,16})$/
/** How often a claim is listed again because another process has removed a link meanwhile. */
const maxListings = 100
const maxSlot = 0xffff_ffff_ffff_ffffn
/** More than any link has. */
const maxBytes = 64 * 1024
const tokenPattern = /^[0-9a-f]{1,16}$/

/**
 * The meaning of a link. `counts`: its process issues slots below the ceiling. `released`: its process has
 * issued all slots below the ceiling, and gave the key back. `page`: the page beside the claim may count from
 * the ceiling on.
 */
type Use = 'counts' | 'released' | 'page'
const uses: readonly unknown[] = ['counts', 'released', 'page'] satisfies Use[]

/** The contents of a link's file. */
export interface Link extends Claimant, ProcessIdentity {
  readonly format: number
  readonly token: string
  /** In decimal, because JSON has no integers of 64 bits. */
  readonly ceiling: string
  readonly use: Use
}

/** A link for which the maker does not choose the token. Only a link that counts has an owner. */
export interface NewLink {
  readonly ids: Identity
  readonly owner?: string
  readonly ceiling: bigint
  readonly use: Use
}

/** The link of a claim that is valid now. */
export interface Latest {
  readonly number: number
  readonly name: string
  readonly says: Link
  /** Names of earlier links. */
  readonly older: readonly string[]
}

interface Named {
  readonly number: number
  readonly previous: string
  readonly name: string
}

/**
 * Finds the link with the highest number whose predecessor exists.
 *
 * @returns `undefined` if there is no claim.
 * @throws GraupelError `ERR_STATE_CORRUPT`, `ERR_STATE_UNAVAILABLE`; errors of the system
 */
export function latestLink(path: string): Latest | undefined {
  for (let listing = 0; listing < maxListings; listing++) {
    try {
      return latestAmong(path, namesIn(path))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the links of the claim ${path} cannot be read, because they were removed ${maxListings} times between listing and reading; try again`,
  )
}

/** The name of the link that can follow a link. */
export function nameAfter({ number, says }: Pick<Latest, 'number' | 'says'>): string {
  return `${number + 1}.${says.token}`
}

/** Makes the link that follows `latest`, or the first link; `undefined` if another process was faster. */
export function makeLink(
  path: string,
  latest: Latest | undefined,
  { ids: { key, description }, owner = '', ceiling, use }: NewLink,
): Latest | undefined {
  const { linkSync, unlinkSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const token = randomBits().toString(16)
  const says: Link = { format, key, description, owner, token, ...thisProcess(), ceiling: `${ceiling}`, use }
  const text = `${JSON.stringify(says)}\n`
  if (latest === undefined) return makeFirst(path, says, text)
  const name = nameAfter(latest)
  const fresh = `${path}/.${token}.new`
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
    linkSync(fresh, `${path}/${name}`)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  } finally {
    tryTo(() => unlinkSync(fresh))
  }
  // If the predecessor is gone, others have continued meanwhile. The link stays, because they may have
  // followed it. Another process that was late as well may have given the predecessor's name to another link,
  // so the tokens are compared: S3 of `model/claim.pml`.
  if (!isThere(path, latest)) return undefined
  return { number: latest.number + 1, name, says, older: [...latest.older, latest.name] }
}

function isThere(path: string, { name, says }: Latest): boolean {
  try {
    return read(path, name).token === says.token
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/**
 * Removes the links before the predecessor of a link, the oldest first. A process that is late may give such
 * a name to another link, which does not count.
 */
export function removeOlder(path: string, { older }: Latest): void {
  const { unlinkSync } = process.getBuiltinModule('node:fs')
  for (const name of older.slice(0, -1)) tryTo(() => unlinkSync(`${path}/${name}`))
}

/** Removes a claim with all its links at once, after giving it another name. */
export function removeChain(path: string): void {
  const { renameSync, rmSync } = process.getBuiltinModule('node:fs')
  const away = besideOf(path, randomBits().toString(16))
  renameSync(path, away)
  rmSync(away, { recursive: true, force: true })
}

function makeFirst(path: string, says: Link, text: string): Latest | undefined {
  const { renameSync, rmSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const fresh = besideOf(path, says.token)
  const name = `1.${says.token}`
  try {
    ownFolder(fresh)
    writeFileSync(`${fresh}/${name}`, text, { flag: 'wx', mode: 0o600 })
    renameSync(fresh, path)
    return { number: 1, name, says, older: [] }
  } catch (error) {
    tryTo(() => rmSync(fresh, { recursive: true, force: true }))
    // Windows has the error EPERM if there is a folder. Other systems have it if the call is not permitted.
    const isFolder = process.platform === 'win32' && hasCode(error, 'EPERM')
    if (isFolder || hasCode(error, 'ENOTEMPTY') || hasCode(error, 'EEXIST')) return undefined
    throw error
  }
}

/** A name beside a claim that is not the name of a claim. */
function besideOf(path: string, token: string): string {
  const name = fileNameIn(path)
  return `${path.slice(0, -name.length)}.${name}.${token}.new`
}

function namesIn(path: string): readonly string[] | undefined {
  const { readdirSync } = process.getBuiltinModule('node:fs')
  try {
    return readdirSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** @throws errors of the system, such as `ENOENT` for a link that was removed since it was listed */
function latestAmong(path: string, names: readonly string[] | undefined): Latest | undefined {
  const links = (names ?? []).flatMap((name) => parseName(name) ?? []).sort((a, b) => b.number - a.number)
  for (const { name, number, previous } of links) {
    const isCounted =
      number === 1 || links.some((other) => other.number === number - 1 && read(path, other.name).token === previous)
    if (!isCounted) continue
    const older = links.filter((other) => other.number < number).map((other) => other.name)
    return { number, name, says: read(path, name), older: older.reverse() }
  }
  if (names === undefined || names.length === 0) return undefined
  throw damagedState('claim', path, 'no link follows another link')
}

function parseName(name: string): Named | undefined {
  const [, digits, previous] = namePattern.exec(name) ?? []
  return digits === undefined ? undefined : { number: Number(digits), previous: previous as string, name }
}

/** @throws errors of the system, such as `ENOENT` for a link that was removed since it was listed */
function read(path: string, name: string): Link {
  const { bytes } = readContents(`${path}/${name}`, maxBytes, (stats) => {
    if (!stats.isFile()) throw damagedState('claim', path, `its link ${name} is not a plain file`)
  })
  const text = bytes.toString()
  const says = tryTo(() => JSON.parse(text) as Link)
  if (says?.format !== format || !isLink(says)) {
    throw damagedState('claim', path, `its link ${name} cannot be read, or is of another version`)
  }
  if (/^\d{1,20}$/.test(says.ceiling) && BigInt(says.ceiling) <= maxSlot) return says
  throw damagedState('claim', path, `its link ${name} has the ceiling ${says.ceiling}, which is no number of 64 bits`)
}

function isLink({ key, description, owner, bootId, ceiling, token, use, pid, pidNamespace, startTime }: Link): boolean {
  return (
    [key, description, owner, token, bootId, ceiling].every((text) => typeof text === 'string') &&
    tokenPattern.test(token) &&
    uses.includes(use) &&
    Number.isInteger(pid) &&
    pid > 0 &&
    [pidNamespace, startTime].every((number) => Number.isInteger(number))
  )
}
