import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { npmBinary } from '../../scripts/npm-binary.ts'
import { createGenerator, decode, layouts } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { serviceStore } from '../../src/stores/service.js'
import { type Started, startService } from '../server/support/in-process.ts'
import { repository } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { type Server, start } from './servers.ts'

// examples/worker-lease.mjs in workerd, the runtime of Cloudflare Workers.

const windowMs = 600
const folder = mkdtempSync(join(tmpdir(), 'graupel-worker-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts workerd with the example. It listens on a port of its configuration. */
async function startWorker(service: string, namespace: string): Promise<Server> {
  const { outputFiles } = await build({
    entryPoints: [join(repository, 'examples/worker-lease.mjs')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    logLevel: 'error',
  })
  writeFileSync(join(folder, 'worker.js'), outputFiles[0]?.text ?? '')
  return start({
    program: npmBinary('@cloudflare/workerd-linux-64', '1', 'bin/workerd'),
    words: (port) => {
      const config = join(folder, `${port}.capnp`)
      writeFileSync(
        config,
        `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "loopback", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2025-01-01",
  globalOutbound = "loopback",
  durableObjectNamespaces = [(className = "NodeLease", uniqueKey = "lease")],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "LEASE", durableObjectNamespace = "NodeLease"),
    (name = "GRAUPEL_URL", text = "${service}"),
    (name = "NAMESPACE", text = "${namespace}"),
    (name = "WINDOW_MS", text = "${windowMs}"),
  ],
);
`,
      )
      return ['serve', config]
    },
  })
}

describeWith(['linux'], 'worker-lease.mjs', () => {
  let service: Started
  beforeAll(async () => {
    service = await startService({ leases: true })
  })

  it('makes ids on one node beside a process, renews on use, and goes on after pauses and an eviction', async () => {
    // The character above U+FFFF is one `_` in the name of the group.
    const namespace = `🍊 ${freshNamespace()}`
    const worker = await startWorker(service.url, namespace)
    const idsOf = (count: number) =>
      eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${worker.port}/?count=${count}`)
        if (answer.status !== 200) throw new Error(await answer.text())
        return ((await answer.json()) as { ids: string[] }).ids.map(BigInt)
      })
    const store = serviceStore({ url: service.url })
    await using lease = await acquireLease({ store, namespace })
    const ids = createGenerator({ lease })
    const [own, made]: [bigint[], bigint[]] = [[], []]
    for (let round = 0; round < 20; round++) {
      made.push(...(await idsOf(5000)))
      own.push(...ids.take(100))
      await sleep(windowMs / 6)
    }
    // Without requests, the lease of the object lapses.
    await sleep(windowMs * 2)
    made.push(...(await idsOf(10)))
    expect(isAscending(made)).toBe(true)
    // Beside the group of the service.
    expect(await store.list('groups/')).toHaveLength(2)
    await worker.restart('SIGKILL')
    const later = await idsOf(10)
    const all = [...own, ...made, ...later]
    expect(new Set(all).size).toBe(all.length)
    const nodeOf = (id: bigint | undefined) => decode(id as bigint, layouts.twitter).node
    expect(nodeOf(later[0])).not.toBe(nodeOf(own[0]))
    await worker.stop()
  })

  it('answers 503 with the reason if the service does not lend', async () => {
    const other = await startService()
    const worker = await startWorker(other.url, freshNamespace())
    const answer = await fetch(`http://127.0.0.1:${worker.port}/`)
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('start graupel-server with --leases'),
    ])
    await worker.stop()
  })
})
