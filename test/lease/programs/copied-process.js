// Holds a lease, and makes ids while a file exists. criu copies the process meanwhile, so it keeps no
// connection and no id in memory.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createGenerator, engineInfo } from 'graupel'
import { acquireLease } from 'graupel/lease'

const [folder = '', port = ''] = process.argv.slice(2)
const path = (/** @type {string} */ name) => join(folder, name)

/** @param {string} name @returns {(...args: any[]) => Promise<any>} */
const call =
  (name) =>
  (...args) =>
    new Promise((resolve, reject) => {
      // The last argument is the signal.
      const body = JSON.stringify([name, ...args.filter((arg) => !(arg instanceof AbortSignal))])
      const asked = request({ port, method: 'POST', agent: false }, (answer) => {
        let text = ''
        answer.on('data', (part) => (text += part))
        answer.on('end', () => resolve(text === '' ? undefined : JSON.parse(text)))
      })
      asked.on('error', reject)
      asked.end(body)
    })

const store = {
  name: 'remote',
  durable: true,
  read: call('read'),
  list: call('list'),
  write: call('write'),
  nowMs: async () => Date.now(),
}
const lease = await acquireLease({ store, windowMs: 60_000 })
const ids = createGenerator({ lease })
writeFileSync(path('held'), engineInfo().copies)

/** @type {'working' | 'parked' | 'resumed'} */
let stage = 'working'
setInterval(() => {
  if (existsSync(path('park')) && stage === 'working') {
    stage = 'parked'
    lease.park().then(() => writeFileSync(path('parked'), ''))
  }
  if (existsSync(path('resume')) && stage === 'parked') {
    stage = 'resumed'
    lease.resume().catch((error) => appendFileSync(path('errors'), `${error.stack}\n`))
  }
  if (!existsSync(path('make'))) return
  const endMs = Date.now() + 15
  while (Date.now() < endMs) {
    try {
      appendFileSync(path('ids'), `${ids.next()}\n`)
    } catch (error) {
      return appendFileSync(path('errors'), `${/** @type {{ code: string }} */ (error).code}\n`)
    }
  }
}, 20)
