#!/usr/bin/env node
import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { runPrimary, runWorker } from './cluster.js'
import { endBySignals, exitAfterLog } from './ending.js'
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
    const text = command.kind === 'help' ? helpText() : `${version()}\n`
    return new Promise((resolve) => process.stdout.write(text, (error) => resolve(error ? 1 : 0)))
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

// A disk that is full, or a reader that is gone, must not end the service at its start.
process.stdout.on('error', (error) => {
  process.stderr.write(`graupel-server: stdout cannot be written: ${lineOf(error)}\n`)
})
process.stderr.on('error', () => {})
try {
  // A client of a database may keep connections open, so the process does not end by itself.
  await exitAfterLog(await main())
} catch (error) {
  process.stderr.write(`graupel-server: ${lineOf(error)}\n`)
  await exitAfterLog(exitCodeOf(error))
}
