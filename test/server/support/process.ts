import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, layouts } from 'graupel'
import { afterAll } from 'vitest'
import { engines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

const ownProgram = fileURLToPath(new URL('../../../server/dist/main.js', import.meta.url))

/** The folder of this test file. */
export const folder = mkdtempSync(join(tmpdir(), 'graupel-server-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Set if there is no native engine, so the service does not warn about the js engine. */
const engine = engines.includes('native') ? {} : { GRAUPEL_ENGINE: 'js' }

const running = new Set<ChildProcess>()
afterAll(async () => {
  for (const child of running) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

/** A process of the service. */
export interface Running {
  readonly child: ChildProcess
  readonly pid: number
  /** Its output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** A process of the service that answers at a URL, such as `http://127.0.0.1:41234`. */
export interface Serving extends Running {
  readonly url: string
}

/** Replacements for this repository's service and for this process's Node. */
export interface Launch {
  readonly program?: string
  readonly node?: string
  /** Puts another command before it, which execs it. */
  readonly by?: (command: readonly string[]) => string[]
}

export type Variables = Readonly<Record<string, string | undefined>>

/** Runs the command with these flags, without variables of the test's own that are options. */
export function run(flags: readonly string[], env: Variables = {}, launch: Launch = {}): Running {
  const { program = ownProgram, node = process.execPath, by = (command) => [...command] } = launch
  const [first, ...rest] = by([node, program, ...flags])
  const child = spawn(first as string, rest, {
    env: { ...process.env, ...engine, HOME: folder, XDG_STATE_HOME: join(folder, 'state'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text
    })
  }
  const ended = new Promise<number | string>((resolve) => {
    // After both streams have ended, so no output is missing.
    child.once('close', (code, signal) => resolve(code ?? (signal as string)))
    child.once('exit', () => running.delete(child))
  })
  return { child, pid: child.pid as number, stdout: () => texts.stdout, stderr: () => texts.stderr, ended }
}

/** Starts the service on a free port, and waits until it prints its address. */
export async function serve(flags: readonly string[] = [], env: Variables = {}, launch: Launch = {}): Promise<Serving> {
  const started = run(['--port', '0', ...flags], env, launch)
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const [found] = /https?:\/\/\S+?:\d+/.exec(started.stdout()) ?? []
      if (found !== undefined) resolve(found)
    }
    started.child.stdout?.on('data', look)
    started.ended.then((code) => reject(new Error(`the service ended with ${code}: ${started.stderr()}`)))
  })
  return { ...started, url }
}

/** Returns the node, or the nodes, of the first line. */
export function nodeOf(stdout: string): string {
  return /, nodes? ([\d, ]+) \(/.exec(stdout)?.[1] ?? ''
}

/** Tells whether nothing listens at a URL. */
export async function refuses(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  return new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(false)).on('error', () => resolve(true))
  }).finally(() => socket.destroy())
}

/** Resolves to the node of the worker that answers. */
export async function servedBy(url: string): Promise<number> {
  // A kept connection belongs to one worker.
  const answer = await fetch(`${url}/v1/ids`, { headers: { connection: 'close' } })
  const { ids } = (await answer.json()) as { ids: string[] }
  return decode(ids[0] as string, layouts.twitter).node
}

/** Returns the process ids of the children of a process. */
export function workersOf(pid: number): number[] {
  const rows = process.platform === 'linux' ? processesOfLinux() : processesByPs()
  return rows.filter(([child, parent]) => parent === pid && isAlive(child)).map(([child]) => child)
}

type ProcessRow = readonly [pid: number, parent: number]

/** A minimal Linux has no `ps`. */
function processesOfLinux(): ProcessRow[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): ProcessRow[] => {
      try {
        // The program's name is in parentheses and may have any character. Its state and its parent follow.
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return [[Number(name), Number(parent)]]
      } catch {
        // The process has ended since the folder was read.
        return []
      }
    })
}

function processesByPs(): ProcessRow[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
}

/** Waits for the end of a process that is no child of this process. */
export function endedProcess(pid: number): Promise<void> {
  return until(() => !isAlive(pid))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
