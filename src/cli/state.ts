import { resolve } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import { type Arguments, helpFlag, quote, UsageError } from './arguments.js'
import type { Manual } from './help.js'
import type { Output } from './output.js'
import { type Paint, paintFor } from './paint.js'
import { cleanedFolder, cleanedPage } from './state-clean.js'
import { jsonLine, listed } from './state-list.js'
import { memoryOf } from './state-memory.js'
import { readState } from './state-read.js'
import { accountOf, plainState, stateLines } from './state-show.js'
import { usersOf } from './state-users.js'

const flags = {
  json: { help: 'print one JSON object a line' },
  clean: { help: 'remove the pages that are not needed any more, or the one at PATH' },
  help: helpFlag,
} as const

export const stateManual: Manual = {
  name: 'state',
  usage: 'graupel state [PATH] [flags]',
  summary: 'Show what is remembered: of a page or a state file, or of all pages.',
  flags,
  notes: [
    'Without --clean it only reads. The last id is the last that may have been given',
    'out, as threads take small runs ahead of need. Processes of other containers are',
    'not seen. --clean removes no page that a process is seen to have open: without',
    'PATH those whose last id lies more than a day in the past, with PATH that one,',
    'and it says what is forgotten by that. State files are never removed.',
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
  const isClean = values.clean !== undefined
  await output.write(await textOf(path === undefined ? undefined : resolve(path), isClean, isJson, paint))
}

function textOf(path: string | undefined, isClean: boolean, isJson: boolean, paint: Paint): Promise<string> {
  if (path === undefined) return (isClean ? cleanedFolder : listed)(pagesFolder(), isJson, paint)
  return isClean ? cleanedPage(path, isJson) : shown(path, isJson, paint)
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
