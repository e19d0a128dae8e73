import { writeSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'

// Runs programs one after the other in this process. A program has ended when nothing keeps the event loop
// running, which would also end a process of its own. Then a line on file descriptor 3 has the file and its
// errors.

/** @type {string[]} */
let errors = []
/** @type {string[]} */
let warnings = []
/** @param {string} what */
const failed = (what) => (/** @type {unknown} */ error) => errors.push(`${what}: ${inspect(error)}`)
process.on('uncaughtException', failed('uncaught'))
process.on('unhandledRejection', failed('unhandled rejection'))
process.on('warning', ({ message }) => warnings.push(`warning: ${message}`))

for (const file of process.argv.slice(2)) {
  const emptied = new Promise((resolve) => process.once('beforeExit', resolve))
  let isPending = true
  import(pathToFileURL(file).href).catch(failed('failed')).finally(() => {
    isPending = false
  })
  await emptied
  if (isPending) errors.push('a top-level await did not end')
  if (process.exitCode !== undefined) errors.push(`the exit code is ${process.exitCode}`)
  process.exitCode = undefined
  const told = errors.length === 0 ? '' : [...errors, ...warnings].join('\n')
  writeSync(3, `${JSON.stringify([file, told])}\n`)
  errors = []
  warnings = []
}
