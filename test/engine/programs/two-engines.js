// Makes generators one after the other, and prints for each of them 'ids', or the message of its error. The
// steps are JSON in the arguments: options of a generator, and the copy of the package that makes it.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import * as graupel from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'

const require = createRequire(import.meta.url)
const file = require.resolve('graupel')

/** @type {Record<string, () => Promise<typeof graupel>>} */
const copies = {
  'the other module format': async () => require(file),
  'another realm': async () => {
    const realm = { exports: {} }
    const code = `(function (require, module, exports, __filename) {${readFileSync(file, 'utf8')}\n})`
    const globals = { process, performance, TextEncoder, SharedArrayBuffer, console }
    runInNewContext(code, globals)(createRequire(file), realm, realm.exports, file)
    return /** @type {typeof graupel} */ (realm.exports)
  },
  'a bundle': async () => {
    const { build } = await import('esbuild')
    const bundle = join(process.cwd(), `bundle-${process.pid}.cjs`)
    await build({ entryPoints: [file], bundle: true, platform: 'node', outfile: bundle, logLevel: 'silent' })
    return require(bundle)
  },
}

const inWorker = `
  const { parentPort, workerData } = require('node:worker_threads')
  try {
    require(workerData.file).createGenerator(workerData.options).next()
    parentPort.postMessage('ids')
  } catch (error) {
    parentPort.postMessage(error.message)
  }
`

const outcomes = []
for (const { copy, closes, fixedClock, ...given } of JSON.parse(process.argv[2] ?? '')) {
  const options = { ...given, ...(fixedClock && { clock: () => 1_700_000_000_000 }) }
  if (copy === 'a lease') {
    // Sealed and given back, before any generator exists.
    await (await acquireLease({ store: memoryStore({ assumeOneProcess: true }) })).release()
    continue
  }
  if (copy === 'a worker') {
    const worker = new Worker(inWorker, { eval: true, workerData: { file, options } })
    outcomes.push((await once(worker, 'message'))[0])
    continue
  }
  const { createGenerator } = (await copies[copy]?.()) ?? graupel
  try {
    const ids = createGenerator(options)
    ids.take(100)
    outcomes.push('ids')
    if (closes) ids.close()
  } catch (error) {
    outcomes.push(/** @type {Error} */ (error).message)
  }
}
process.stdout.write(JSON.stringify(outcomes))
