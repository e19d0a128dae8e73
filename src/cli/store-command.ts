import { type Arguments, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import { type Check, exitCodeOf, lineOf, writeChecks } from './checks.js'
import { interruptible } from './interrupt.js'
import type { Output } from './output.js'
import { clientNotes, storeFlags, withStore } from './store.js'
import { checkStore, nameWidth } from './store-check.js'

const flags = {
  prefix: storeFlags.prefix,
  table: storeFlags.table,
  create: { help: 'make a missing table or file of a database, which then stays' },
  json: { help: 'print a JSON array' },
  help: helpFlag,
} as const

export const storeManual: Manual<typeof flags> = {
  name: 'store',
  usage: 'graupel store check URL [flags]',
  summary: 'Check that a store keeps the rules that leases need.',
  flags,
  notes: [
    'Prints a line for each check when it ends: ok, note or bad. The exit code is 1',
    'if a check is bad, and 0 otherwise. If the store fails, the rest is left out.',
    'The records that it writes are removed at the end, also after Ctrl-C; the last',
    'line names the records that could not be removed. The user of the store needs',
    'the right to delete for that, which leases do not need.',
    'In ZooKeeper, the node of the prefix and the node of its clock stay.',
    ...clientNotes,
  ],
}

/** `graupel store`. @returns 1 if a check is bad */
export async function storeCommand(
  { values, positionals }: Arguments<keyof typeof flags>,
  output: Output,
): Promise<number> {
  const [verb, url, ...rest] = positionals
  if (verb !== 'check') {
    const found = verb === undefined ? 'has no verb' : `has no verb ${quote(verb)}`
    throw new UsageError('ERR_OPTION_INVALID', `store ${found}; write graupel store check URL`)
  }
  if (url === undefined || rest.length > 0) {
    const found = url === undefined ? 'has no URL' : `has a second word, ${quote(rest[0] as string)}`
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `store check ${found}; write graupel store check URL, such as redis://127.0.0.1:6379`,
    )
  }
  const isJson = values.json !== undefined
  let exitCode = 0
  await interruptible(async (signal) => {
    const how = { mayMake: values.create !== undefined, signal }
    let remains = 'no scratch record is left'
    const write = async (check: Check) => isJson || output.write(lineOf(check, nameWidth, output))
    try {
      await withStore({ ...values, store: url }, how, async (open) => {
        const { checks, left } = await checkStore(open, signal, write)
        if (left !== undefined) remains = left.text
        if (signal.aborted) return
        exitCode = isJson ? await writeChecks(checks, isJson, output) : exitCodeOf(checks)
      })
    } finally {
      if (signal.aborted) output.stderr.write(`graupel: interrupted; ${remains}\n`)
    }
  })
  return exitCode
}
