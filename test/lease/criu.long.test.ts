import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { decode, layouts } from 'graupel'
import { memoryStore } from 'graupel/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'
import { standInForVmClock } from '../support/vmclock.js'

// Real copies: criu dumps a process that holds a lease, and restores it twice, each in pid and mount
// namespaces of its own. Debian's criu 3.17 does not start on Linux 6.18 ("Unexpected rt vDSO area bounds");
// criu 4.2 does. GRAUPEL_TEST_CRIU is the path of the program.

const criu = process.env.GRAUPEL_TEST_CRIU ?? 'criu'

function works(): boolean {
  try {
    execFileSync(criu, ['check'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const children: ChildProcess[] = []
const closing: (() => void)[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  for (const close of closing.splice(0)) close()
})

async function startWorld(env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-criu-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  const store = memoryStore()
  const server = createServer(async (asked, answer) => {
    let text = ''
    for await (const part of asked) text += part
    const [name, ...args] = JSON.parse(text) as ['read' | 'list' | 'write', ...never[]]
    // JSON writes undefined as null.
    const given = args.map((arg) => arg ?? undefined) as never[]
    answer.end(JSON.stringify(await (store[name] as (...args: never[]) => Promise<unknown>)(...given)))
  }).listen(0)
  await once(server, 'listening')
  closing.push(() => server.close())
  const at = (name: string) => join(folder, name)
  const program = fileURLToPath(new URL('./programs/copied-process.js', import.meta.url))
  const { port } = server.address() as AddressInfo
  const process_ = spawn(process.execPath, [program, folder, String(port)], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  })
  children.push(process_)
  const lines = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8').trim().split('\n') : [])
  await until(() => existsSync(at('held')))
  const make = (isOn: boolean) => (isOn ? writeFileSync(at('make'), '') : unlinkSync(at('make')))
  make(true)
  await until(() => lines('ids').length > 100)
  make(false)
  await sleep(200) // no id is in the memory of the process
  return {
    at,
    lines,
    make,
    async dump() {
      mkdirSync(at('images'))
      const exit = once(process_, 'exit')
      execFileSync(criu, ['dump', '-t', String(process_.pid), '-D', at('images'), '--tcp-close', '--file-locks'])
      await exit
    },
    restore() {
      const restoring = [criu, 'restore', '-D', at('images'), '--tcp-close', '--file-locks']
      children.push(
        spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', ...restoring], { stdio: 'ignore' }),
      )
    },
  }
}

type World = Awaited<ReturnType<typeof startWorld>>

/** Restores the process twice, and waits until copies on so many nodes have made ids. */
async function copiesOf(world: World, nodes: number) {
  const before = world.lines('ids').length
  world.restore()
  world.restore()
  await sleep(1000)
  world.make(true)
  const made = () => world.lines('ids').slice(before).map(BigInt)
  const nodesOf = (ids: bigint[]) => new Set(ids.map((id) => decode(id, layouts.twitter).node)).size
  await until(() => made().length > 5000 && nodesOf(made()) >= nodes)
  world.make(false)
  const ids = world.lines('ids')
  return { twice: ids.length - new Set(ids).size, nodes: nodesOf(made()) }
}

describe.skipIf(!works() || process.getuid?.() !== 0)(
  'a process that criu copies twice (needs root and criu 4)',
  () => {
    it('makes equal ids if nothing tells it', async () => {
      const world = await startWorld({})
      await world.dump()
      const { twice, nodes } = await copiesOf(world, 1)
      expect(nodes).toBe(1)
      expect(twice).toBeGreaterThan(0)
    })

    it('makes no equal ids if a device tells it', async () => {
      const { path, copyMachine, remove } = standInForVmClock()
      closing.push(remove)
      const world = await startWorld({ GRAUPEL_TEST_VMCLOCK: path })
      expect(world.lines('held')).toEqual(['detected'])
      await world.dump()
      copyMachine()
      const { twice, nodes } = await copiesOf(world, 2)
      expect({ twice, nodes }).toEqual({ twice: 0, nodes: 2 })
      expect(world.lines('errors')).toContain('ERR_LEASE_EXPIRED')
    })

    it('makes no equal ids if it is parked before and resumed afterwards', async () => {
      const world = await startWorld({})
      writeFileSync(world.at('park'), '')
      await until(() => existsSync(world.at('parked')))
      await world.dump()
      writeFileSync(world.at('resume'), '')
      const { twice, nodes } = await copiesOf(world, 2)
      expect({ twice, nodes }).toEqual({ twice: 0, nodes: 2 })
    })
  },
)
