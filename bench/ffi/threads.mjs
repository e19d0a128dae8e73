// Makes ids by the foreign function interface in several threads on one page, and ends workers in the midst:
// RUNTIME bench/ffi/threads.mjs LIBRARY FOLDER. Prints JSON.
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { descents, open, runtime } from './library.mjs'

const mostIds = 1 << 20

if (isMainThread) await main(...process.argv.slice(2))
else await member(workerData)

/** Makes ids until it has enough, or is ended. The first element of `shared` is the number of ids. */
async function member({ path, folder, shared, want }) {
  const { library, mailbox } = await open(path, folder, 3)
  const ids = new BigUint64Array(shared)
  const { graupel_next: next, graupel_next_into: into } = library
  parentPort.postMessage('begun')
  for (let made = 0; made < want; ) {
    let id
    if (made % 2 === 0) id = next()
    else {
      into()
      id = mailbox[0]
    }
    if (id === 0n) continue
    // An endless member keeps its first ids.
    if (made < mostIds) {
      ids[++made] = id
      Atomics.store(ids, 0, BigInt(made))
    }
  }
  parentPort.postMessage('ended')
}

async function main(path, folder) {
  const { library } = await open(path, folder, 3)
  const start = (want) => {
    const shared = new SharedArrayBuffer(8 * (mostIds + 1))
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { path, folder, shared, want } })
    const reached = (word) =>
      new Promise((resolve, reject) => {
        worker.on('message', (said) => said === word && resolve())
        worker.on('error', reject)
      })
    return { worker, ids: new BigUint64Array(shared), begun: reached('begun'), ended: reached('ended') }
  }
  const members = Array.from({ length: 4 }, () => start(200_000))
  await Promise.all(members.map(({ ended }) => ended))
  await Promise.all(members.map(({ worker }) => worker.terminate()))

  const terminated = []
  for (let i = 0; i < 20; i++) {
    const member = start(Number.POSITIVE_INFINITY)
    terminated.push(member)
    await member.begun
    while (Atomics.load(member.ids, 0) < 5000n) await new Promise((resolve) => setTimeout(resolve, 1))
    for (let made = 0; made < 1000; ) made += library.graupel_next() === 0n ? 0 : 1
    await member.worker.terminate()
  }
  const runs = [...members, ...terminated].map(({ ids }) => ids.slice(1, 1 + Number(ids[0])))
  const all = new BigUint64Array(runs.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const run of runs) {
    all.set(run, at)
    at += run.length
  }
  const outOfOrder = runs.reduce((sum, run) => sum + descents(run), 0)
  // A thread may end after its promise.
  for (let tries = 0; tries < 100 && library.graupel_open_count() > 1; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const equal = descents(all.sort())
  const stillOpen = library.graupel_open_count() - 1
  const later = []
  while (later.length < 1000) {
    const id = library.graupel_next()
    if (id !== 0n) later.push(id)
  }
  const isLater = later[0] > all[all.length - 1] && descents(later) === 0
  console.log(JSON.stringify({ runtime, ids: all.length, equal, outOfOrder, stillOpen, isLater }))
}
