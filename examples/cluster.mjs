// Several processes of one app on one port, by node:cluster.
//
//   npm install graupel express libsql
//   STORE_URL=sqlite:fleet.db PORT=3000 PROCESSES=2 node cluster.mjs
//   curl -H 'content-type: application/json' -d '{"item":"tea"}' http://127.0.0.1:3000/orders
//
// The app is express.mjs without changes: each process leases a node of its own. fastify.mjs works in the
// same way.
import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'

cluster.setupPrimary({ exec: 'express.mjs' })
cluster.on('online', (worker) => console.log(`process ${worker.process.pid}`))
const count = Number(process.env.PROCESSES ?? availableParallelism())
for (let index = 0; index < count; index++) cluster.fork()

// The node of a crashed process is free some seconds later. The process that replaces it leases another node.
let isEnding = false
cluster.on('exit', (worker, code, signal) => {
  if (isEnding) return
  console.error(`process ${worker.process.pid} has ended by ${signal ?? code}`)
  setTimeout(replace, 1000) // after a pause, because the next process ends, too, if the store is unreachable
})

function replace() {
  if (!isEnding) cluster.fork()
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isEnding = true
    // A terminal sends SIGINT to all processes, and a second one would end a worker at once.
    for (const worker of Object.values(cluster.workers)) worker.process.kill('SIGTERM')
  })
}
