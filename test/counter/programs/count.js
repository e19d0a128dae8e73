// One counting process of a fleet. It prints 'ready', begins at the input 'go', logs each number, and prints
// the statistics of its counter at its end. It ends when it has counted enough, or at the input 'stop'.
import { openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCounter } from 'graupel/segments'
import { openStore } from '../../stores/programs/open-store.js'

/**
 * @typedef {object} Order
 * @property {import('../../stores/programs/open-store.js').StorePlan} store
 * @property {Omit<import('graupel/segments').CounterOptions, 'store'>} options
 * @property {string} file - The file to which each number is written at once.
 * @property {number} together - The number of simultaneous calls.
 * @property {number | null} count - The number of numbers that they take; null for no limit.
 * @property {number} alone - The number of numbers that are taken one by one afterwards.
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
  // The input ends when the test has ended.
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

/** Takes a number, and repeats the call until it succeeds. */
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
