// A process of a fleet. It acquires leases of one store on command. It is plain JavaScript, because 64
// processes that each load a TypeScript compiler would take minutes to start.
import { setTimeout as sleep } from 'node:timers/promises'
import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from '../../test/stores/programs/open-store.js'

/**
 * @typedef {{ name: string, port: number }} MemberStart
 * @typedef {{ namespace: string, leases: number, startMs: number }} Start A former lease is released before.
 * @typedef {{ nodes: number[], ids: BigUint64Array, ms: number, cpuMs: number, writes: number }} Started
 * @typedef {{ writes: number, cpuMs: number, failures: number, acquisitions: number }} Sample
 */

const { name, port } = /** @type {MemberStart} */ (JSON.parse(process.argv[2] ?? ''))
const [kind = '', ...rest] = name.split('-')
const client = rest.join('-')
const plan = /** @type {import('../../test/stores/programs/open-store.js').StorePlan} */ ({
  client: client === 'fetch' ? kind : client,
  port,
})
const store = await openStore(plan)
let writes = 0
/** @type {import('graupel/stores').Store} */
const counted = {
  ...store,
  write(...call) {
    writes++
    return store.write(...call)
  },
}
/** @type {import('graupel/lease').Lease[]} */
let leases = []

/** @param {Start} task @returns {Promise<Started>} */
async function start({ namespace, leases: wanted, startMs }) {
  await Promise.all(leases.map((lease) => lease.release()))
  await sleep(Math.max(0, startMs - Date.now()))
  const [before, cpuBefore] = [writes, cpuMs()]
  leases = []
  // Processes that are started anew have other names.
  const owner = crypto.randomUUID()
  const ids = new BigUint64Array(100 * wanted)
  let spent = { ms: 0, cpuMs: 0, writes: 0 }
  for (let i = 0; i < wanted; i++) {
    // A long time limit, because a busy machine must not end the run.
    const lease = await acquireLease({ store: counted, namespace, owner, callTimeoutMs: 10_000 })
    spent = { ms: Date.now() - startMs, cpuMs: cpuMs() - cpuBefore, writes: writes - before }
    leases.push(lease)
    await createGenerator({ lease }).fillAsync(ids.subarray(100 * i, 100 * (i + 1)))
  }
  return { nodes: leases.map(({ node }) => node), ids, ...spent }
}

/** @returns {Sample} */
function sample() {
  const stats = leases.map((lease) => lease.stats())
  const sum = (/** @type {'failures' | 'acquisitions'} */ what) => stats.reduce((total, one) => total + one[what], 0)
  return { writes, cpuMs: cpuMs(), failures: sum('failures'), acquisitions: sum('acquisitions') }
}

function cpuMs() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

process.on('message', async (/** @type {Start | 'sample'} */ task) => {
  process.send?.(task === 'sample' ? sample() : await start(task))
})
process.once('disconnect', () => process.exit())
// The connection is there now.
await store.nowMs?.()
process.send?.('ready')
