#!/usr/bin/env node
import { warningText } from './output.js'
import { run } from './run.js'

// Node's own listener prints two lines and a process id. With `NODE_NO_WARNINGS=1` there is none.
if (process.listenerCount('warning') > 0)
  process.removeAllListeners('warning').on('warning', (warning) => process.stderr.write(warningText(warning)))
// If stderr is closed, its errors cannot be reported.
process.stderr.on('error', () => {})

process.exitCode = await run(process.argv.slice(2), process)
// A client of a store may have left a connection open, which keeps the process alive.
setTimeout(() => process.exit(), 1000).unref()
