import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll } from 'vitest'
import type { Layout } from '../../src/index.js'
import { Group } from '../../src/lease/group.js'
import { type LeaseRecord, writeRecord } from '../../src/lease/record.js'
import { sqliteStore } from '../../src/stores/sqlite.js'
import type { Store } from '../../src/stores/store.js'
import { installOnce } from '../package/consumer.ts'
import { program, type Run } from '../support/cli.js'
import { hangMs } from '../support/until.ts'

// Stores for the command line, and folders with clients of these stores, as in projects of users.

const clients = installOnce('test/stores/clients', ['--ignore-scripts'])
const root = mkdtempSync(join(tmpdir(), 'graupel-fleet-'))
const open: (() => void)[] = []
const running = new Set<ChildProcess>()
let count = 0

// Not onTestFinished, which tests that run at once may not call after an await.
afterAll(async () => {
  for (const close of open) close()
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...running].map((child) => once(child, 'close')))
  rmSync(root, { recursive: true, force: true })
})

/** Makes a folder in which only these clients are installed; `redis-4` is version 4 of `redis`. */
export function projectWith(...names: string[]): string {
  const folder = join(root, `project ${count++}`)
  mkdirSync(folder)
  for (const name of names) {
    const link = join(folder, 'node_modules', name.replace(/-\d$/, ''))
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(clients, name), link)
  }
  return folder
}

/** Starts `graupel` in a folder; `ended` resolves to its output. */
export function launch(folder: string, words: readonly string[], variables: Record<string, string> = {}) {
  const { GRAUPEL_NODE, GRAUPEL_ENGINE, NODE_APP_INSTANCE, ...rest } = process.env
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...rest, TZ: 'UTC', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const ended = new Promise<Run & { signal: NodeJS.Signals | null }>((resolve) => {
    const said = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) child[stream].on('data', (text) => (said[stream] += text))
    child.on('close', (status, signal) => {
      running.delete(child)
      resolve({ ...said, status, signal })
    })
  })
  return { child, ended }
}

/** Runs `graupel` to its end without blocking this process. */
export async function graupelIn(folder: string, words: readonly string[]): Promise<Run> {
  const { status, stdout, stderr } = await launch(folder, words).ended
  return { status, stdout, stderr }
}

/** Makes a SQLite database with the table of a store. */
export async function sqliteFleet(file = join(root, `fleet ${count++}.db`)) {
  const Database = createRequire(join(clients, '..', 'package.json'))('libsql')
  const database = new Database(file)
  open.push(() => database.close())
  database.exec(`PRAGMA busy_timeout = ${hangMs}`)
  const store = sqliteStore(database)
  await store.setup()
  return { database, store, file, words: ['--store', `sqlite:${file}`], folder: projectWith('libsql') }
}

/** Makes a group whose nodes the test writes itself. */
export async function groupIn(store: Store, layout: Layout, namespace: string) {
  const { nodes, epochMs, tickMs } = layout
  const all = { count: nodes, at: (index: number) => index, has: () => true }
  const group = Group.of(layout, namespace, all)
  const record = { nodes, epochMs, tickMs, incarnation: '', sinceMs: Date.now(), attempt: 'by hand' }
  await store.write(group.key, writeRecord(group.ids, record), undefined)
  const put = async (node: number | string, value: string) => {
    const key = typeof node === 'number' ? group.keyOf(node) : `${group.folderOf(0)}${node}`
    await store.write(key, value, (await store.read(key))?.version)
  }
  return {
    group,
    name: group.key.slice('groups/'.length),
    /** Writes a text that is no record. */
    put,
    /** Writes a record whose ceiling is some milliseconds from now, and returns it. */
    async lease(node: number, inMs: number, changes: Partial<LeaseRecord> = {}): Promise<LeaseRecord> {
      const ceiling = group.tickAt(Date.now() + inMs)
      const held = { owner: `host/${node}`, token: `token ${node}`, attempt: `attempt ${node}`, isReleased: false }
      const record = { ...held, floor: ceiling - 10, ceiling, windowMs: 6000, ...changes }
      await put(node, writeRecord(group.ids, record))
      return record
    },
    async record(node: number): Promise<LeaseRecord> {
      return JSON.parse((await store.read(group.keyOf(node)))?.value ?? 'null')
    },
  }
}
