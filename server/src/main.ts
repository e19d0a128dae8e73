#!/usr/bin/env node
import { lineOf } from './failure.js'
import { helpText, readCommand } from './options/read.js'
import { run } from './run.js'

try {
  const command = readCommand(process.argv.slice(2), process.env)
  if (command.kind === 'help') process.stdout.write(helpText())
  else if (command.kind === 'run') await run(command.options)
} catch (error) {
  process.stderr.write(`graupel-server: ${lineOf(error)}\n`)
  process.exitCode = 1
}
