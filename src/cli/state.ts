import { resolve } from 'node:path'
import { claimAt, isClaimAt } from '../host/claims.js'
import { pagesFolder } from '../host/folder.js'
import { accountOf } from '../host/list.js'
import { readState } from '../host/read.js'
import { type Arguments, helpFlag, quote, UsageError } from './arguments.js'
import type { Manual } from './help.js'
import type { Output } from './output.js'
import { type Paint, paintFor } from './paint.js'
import { claimLines, plainClaim } from './state/claim.js'
import { cleanedClaim, cleanedFolder, cleanedPage } from './state/clean.js'
import { jsonLine, listed } from './state/list.js'
import { accountLines, plainAccount } from './state/show.js'

const flags = {
  json: { help: 'print one JSON object a line' },
  clean: { help: 'remove what is not needed any more, or the page or claim at PATH' },
  help: helpFlag,
} as const

export const stateManual: Manual = {
  name: 'state',
  usage: 'graupel state [PATH] [flags]',
  summary: 'Show what a page, a claim or a state file remembers, or list them.',
  flags,
  notes: [
    'Without --clean it only reads. The last id is the last one that may exist,',
    'because threads reserve small runs of ids. The js engine has a claim in place',
    'of a page. Processes of other containers are not seen. --clean without PATH',
    'removes pages and claims whose last id lies more than a day in the past; with',
    'PATH it removes that one, and says what is forgotten with it. It keeps a page',
    'that a process has open, a claim whose process runs, and all state files.',
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
  if (isClean) return (isClaimAt(path) ? cleanedClaim : cleanedPage)(path, isJson)
  return shown(path, isJson, paint)
}

async function shown(path: string, isJson: boolean, paint: Paint): Promise<string> {
  if (isClaimAt(path)) {
    const claim = claimAt(path)
    return isJson ? jsonLine(plainClaim(claim)) : indented(claimLines(claim, paint))
  }
  const account = await accountOf(await readState(path))
  return isJson ? jsonLine(plainAccount(account)) : indented(accountLines(account, paint))
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('')
}
