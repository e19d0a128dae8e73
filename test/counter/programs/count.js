// One process of a fleet that counts: it says 'ready', begins when it hears 'go', logs each number, and says at its end what its
// counter has done. It ends when it has counted enough, or hears 'stop'.
import { openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCounter } from 'graupel/segments'
import { openStore } from '../../stores/programs/open-store.js'

/**
 * @typedef {object} Order
 * @property {import('../../stores/programs/open-store.js').StorePlan} store
 * @property {Omit<import('graupel/segments').CounterOptions, 'store'>} options
 * @property {string} file - Where each number is written as soon as it is there.
 * @property {number} together - How many calls are made at once.
 * @property {number | null} count - How many numbers they take; null for as many as there is time for.
 * @property {number} alone - How many numbers are taken one by one afterwards.
 */

/** @type {Order} */
const { store: plan, options, file, together, count, alone } = JSON.parse(process.argv[2] ?? '')
const log = openSync(file, 'a')
const store = await openStore(plan)
const { nextNumber, stats } = await open()

let left = count ?? Number.POSITIVE_INFINITY
const go = new Promise((resolve) => {
  const lines = createInterface(process.stdin)
  lines.on('line', (line) => {
    if (line === 'go') resolve(undefined)
    else left = 0
  })
  // The test has ended.
  lines.on('close', () => process.exit(1))
})
console.log('ready')
await go
await Promise.all(Array.from({ length: together }, countOn))
for (let done = 0; done < alone; done++) await take()
// The numbers that were counted for calls that failed.
do await take()
while (stats().held > 0)
console.log(JSON.stringify(stats()))
process.exit()

async function open() {
  for (;;) {
    try {
      return await createCounter({ store, ...options })
    } catch (error) {
      await expected(error)
    }
  }
}

async function countOn() {
  while (left-- > 0) await take()
}

/** Takes a number, however often that needs a call. */
async function take() {
  for (;;) {
    try {
      writeSync(log, `${await nextNumber()}\n`)
      return
    } catch (error) {
      await expected(error)
    }
  }
}

/** @param {unknown} error */
async function expected(error) {
  if (/** @type {{ code?: string }} */ (error).code !== 'ERR_STORE_UNAVAILABLE') throw error
  await sleep(20)
}
