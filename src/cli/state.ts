import { resolve } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import { type Arguments, helpFlag, quote, UsageError } from './arguments.js'
import type { Manual } from './help.js'
import type { Output } from './output.js'
import { type Paint, paintFor, printable, table } from './paint.js'
import { type Found, memoryOf, pagesIn } from './state-memory.js'
import { readState } from './state-read.js'
import { accountOf, ago, plainState, stateLines } from './state-show.js'
import { usersOf } from './state-users.js'

const flags = { json: { help: 'print one JSON object a line' }, help: helpFlag } as const

export const stateManual: Manual = {
  name: 'state',
  usage: 'graupel state [PATH] [flags]',
  summary: 'Show what is remembered: of a page or a state file, or of all pages.',
  flags,
  notes: [
    'It only reads. The last id is the last that may have been given out, as threads',
    'take small runs ahead of need. Processes of other containers are not seen.',
  ],
}

/** `graupel state`. */
export async function state({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  if (positionals.length > 1) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `state takes one path, and ${quote(positionals[1] as string)} is a second one; leave it out`,
    )
  }
  const [path] = positionals
  const isJson = values.json !== undefined
  const paint = paintFor(output.isTerminal)
  const text =
    path === undefined ? await listed(pagesFolder(), isJson, paint) : await shown(resolve(path), isJson, paint)
  await output.write(text)
}

async function shown(path: string, isJson: boolean, paint: Paint): Promise<string> {
  const found = await readState(path)
  const { stored, stats } = found
  const memory = stored.kind === 'file' ? await memoryOf(found) : undefined
  const account = accountOf(found, memory, usersOf(stored.kind, stats))
  if (isJson) return jsonLine(plainState(account))
  return stateLines(account, paint)
    .map((line) => `  ${line}\n`)
    .join('')
}

/** The pages of this user, the latest first: their names are hashes, so nobody could ask for one. */
export async function listed(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const found = (await pagesIn(folder)).sort((a, b) => lastMs(b) - lastMs(a))
  if (isJson) return found.map((page) => jsonLine(plainFound(page))).join('')
  if (found.length === 0) {
    return `There is no page in ${printable(folder)}: nothing on this host remembers ids of this user.\n`
  }
  const [head, ...lines] = table(
    [['layout', 'node', 'namespace', 'time of the last id', 'page'], ...found.map(row)],
    [1],
  )
  return [paint('dim', head as string), ...lines].map((line) => `${line}\n`).join('')
}

function row(found: Found): string[] {
  if ('error' in found) return ['?', '', '', found.error.code, printable(found.path)]
  const { path, ids, stored } = found
  const { lastSlot } = accountOf(found, undefined, undefined)
  const isSealed = stored.kind === 'page' && stored.isSealed
  const time = lastSlot === undefined ? (isSealed ? 'sealed' : 'none') : ago(ids.timeMs(lastSlot))
  const clock = ids.clock === 'injected' ? ', injected clock' : ''
  return [ids.layoutName, String(ids.node), quote(ids.namespace).slice(1, -1), time + clock, path].map(printable)
}

function plainFound(found: Found) {
  if ('error' in found) return { path: found.path, error: { code: found.error.code, message: found.error.message } }
  const { openBy: _, ...plain } = plainState(accountOf(found, undefined, undefined))
  return plain
}

/** Earlier than any Date; not infinite, because a difference of two of them has to be a number. */
const beforeAll = -9e15

function lastMs(found: Found): number {
  if ('error' in found) return beforeAll
  const { lastSlot } = accountOf(found, undefined, undefined)
  return lastSlot === undefined ? beforeAll : found.ids.timeMs(lastSlot)
}

// JSON leaves some control characters as they are, and in a string each may be written as printable() does.
function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}
