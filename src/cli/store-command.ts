import { type Arguments, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import { writeChecks } from './checks.js'
import { interruptible } from './interrupt.js'
import type { Output } from './output.js'
import { clientNotes, storeFlags, withStore } from './store.js'
import { checkStore } from './store-check.js'

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
    'Prints a line for each check: ok, note or bad. The exit code is 1 if a check is',
    'bad, and 0 otherwise. The records that it writes are removed at the end, also',
    'after Ctrl-C; the last line names the records that could not be removed. The',
    'user of the store needs the right to delete for that, which leases do not need.',
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
  let exitCode = 0
  await interruptible(async (signal) => {
    const how = { mayMake: values.create !== undefined, signal }
    await withStore({ ...values, store: url }, how, async (open) => {
      const { checks, left } = await checkStore(open, signal)
      if (!signal.aborted) exitCode = await writeChecks(checks, values.json !== undefined, output)
      else if (left !== undefined) process.stderr.write(`graupel: ${left.text}\n`)
    }).catch((error) => {
      const isAbsent = !how.mayMake && /has no table|there is no such file/.test(Object(error).message)
      if (isAbsent) error.message += '; pass --create to make it'
      throw error
    })
  })
  return exitCode
}
