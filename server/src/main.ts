#!/usr/bin/env node
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { runPrimary, runWorker } from './cluster.js'
import { endBySignals } from './ending.js'
import { exitCodeOf, lineOf } from './failure.js'
import { helpText } from './options/help.js'
import { kindsOf } from './options/kinds.js'
import { checkNumbers } from './options/numbers.js'
import { type Command, readCommand } from './options/read.js'
import { announcement, run } from './run.js'

/** Runs the command and resolves to its exit code. @throws StartError; errors of the library */
async function main(): Promise<number> {
  if (cluster.isWorker) return runWorker(readWords)
  const command = readWords()
  if (command.kind !== 'run') {
    process.stdout.write(command.kind === 'help' ? helpText() : `${version()}\n`)
    return 0
  }
  const { options } = command
  await checkNumbers(options)
  // A mistake in a kind ends the start, before there are workers.
  kindsOf(options)
  if (options.workers > 1) return runPrimary(options)
  await run(options, endBySignals(), (started) => process.stdout.write(announcement([started])))
  return 0
}

function readWords(): Command {
  return readCommand(process.argv.slice(2), process.env)
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version
}

try {
  // process.exit(), because a client of a database may keep connections open.
  process.exit(await main())
} catch (error) {
  process.stderr.write(`graupel-server: ${lineOf(error)}\n`)
  process.exit(exitCodeOf(error))
}
