// A node for the workload `unique-ids` of Maelstrom, Jepsen's workbench: it reads and writes a message as
// JSON in each line.
//
//   npm install graupel libsql
//   ./maelstrom test -w unique-ids --bin maelstrom.mjs --time-limit 30 --rate 1000 --node-count 3
//   --availability total --nemesis partition
//
// Each node leases a node of graupel from the store of STORE_URL, which Maelstrom's partitions do not cut
// off. A message that comes twice gets two answers with different ids, and a node that was killed starts with
// another lease.
import { createInterface } from 'node:readline'
import { createGenerator, GraupelError } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'

const { store, close } = await openStore(process.env.STORE_URL ?? 'sqlite:maelstrom.db')

let own
let sent = 0
let starting
let ids

/** Leases a node at the message `init`, which names the node of Maelstrom. */
async function start(name) {
  own = name
  const lease = await acquireLease({ store, owner: `maelstrom-${name}` })
  const generator = createGenerator({ lease })
  ids = { next: generator.nextAsync, release: () => lease.release() }
}

const answers = {
  async init({ node_id: name }) {
    // Once, although the message may come twice.
    starting ??= start(name)
    await starting
    return { type: 'init_ok' }
  },
  async generate() {
    // As text, because numbers of JSON lose digits above 2^53.
    return { type: 'generate_ok', id: String(await ids.next()) }
  },
}

/** The codes of errors of Maelstrom. */
const codes = { notSupported: 10, temporarilyUnavailable: 11, preconditionFailed: 22 }

async function answer({ src, body }) {
  const reply = (more) => {
    sent++
    const text = JSON.stringify({ src: own, dest: src, body: { ...more, msg_id: sent, in_reply_to: body.msg_id } })
    process.stdout.write(`${text}\n`)
  }
  const make = Object.hasOwn(answers, body.type) ? answers[body.type] : undefined
  if (make === undefined) return reply({ type: 'error', code: codes.notSupported, text: `no ${body.type}` })
  if (body.type !== 'init' && ids === undefined) {
    return reply({ type: 'error', code: codes.preconditionFailed, text: 'init did not come' })
  }
  try {
    reply(await make(body))
  } catch (error) {
    if (!(error instanceof GraupelError)) throw error
    reply({ type: 'error', code: codes.temporarilyUnavailable, text: `${error.code}: ${error.message}` })
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  // Not awaited, so that a node answers the next message while an id waits for the next millisecond.
  void answer(JSON.parse(line))
}
await ids?.release()
await close()
