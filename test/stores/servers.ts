import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { noteGoneServer } from '../support/gone-servers.ts'
import { stopProcess } from '../support/stop-process.ts'
import { eventually } from '../support/until.ts'

/** A server on a free port of this machine, with its own folder. */
export interface Server {
  readonly port: number
  /** Ends the server by its process id, and starts it again on the same folder. */
  restart(signal?: NodeJS.Signals): Promise<void>
  /**
   * Sends a signal. Waits until the server has ended or stopped, if the signal does that. SIGSTOP and SIGCONT
   * go to the processes that it has forked, too.
   */
  signal(name: NodeJS.Signals): Promise<void>
  /** Ends the server, and removes its folder. */
  stop(): Promise<void>
}

export interface Launch {
  readonly program: string
  readonly words: (port: number, folder: string) => string[]
  /** Fills the folder before the first start. */
  readonly prepare?: (folder: string) => void
  /** Output that says the server can be used, if that is later than when it listens. */
  readonly ready?: string
  /** The user who runs the server, if root may not run it. */
  readonly user?: string
}

// A test may fail before it stops its servers.
const living = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

/** Starts a server, and waits until it can be used. */
export async function start({ program, words, prepare, ready = '', user }: Launch): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-server-'))
  if (user !== undefined) {
    const [uid, gid] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, user], { encoding: 'utf8' })))
    chownSync(folder, uid as number, gid as number)
  }
  prepare?.(folder)
  const port = await freePort()
  let child: ChildProcess
  /** Whether the server serves, and no test has told it to end. */
  let isWanted = false
  const launch = async () => {
    const [first, rest] = asUser(user, program, words(port, folder))
    const started = spawn(first, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    living.add(started)
    let said = ''
    for (const stream of [started.stdout, started.stderr]) stream?.on('data', (data) => (said += data))
    let end: string | undefined
    started.on('error', (error) => {
      end = `${error}`
    })
    started.on('exit', (code, signal) => {
      living.delete(started)
      end = `${signal ?? code}`
      if (isWanted && child === started) noteGoneServer(`${program} on port ${port}`, end, () => said)
    })
    while (!said.includes(ready) || !(await isListening(port))) {
      await sleep(20)
      if (end !== undefined) throw new Error(`${program} ended with ${end} before it could be used: ${said}`)
    }
    isWanted = true
  }
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      isWanted = false
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.on('exit', () => resolve())
      child.kill(signal)
    })
  await launch()
  return {
    port,
    async signal(name) {
      if (name === 'SIGKILL' || name === 'SIGTERM' || name === 'SIGINT') await end(name)
      else if (name === 'SIGSTOP') {
        await stopProcess(child.pid as number)
        for (const pid of forkedBy(child)) await stopProcess(pid)
      } else {
        if (name === 'SIGCONT') for (const pid of forkedBy(child)) process.kill(pid, name)
        child.kill(name)
      }
    },
    async restart(signal = 'SIGTERM') {
      await end(signal)
      // The first start may fail: PostgreSQL does not start while a process of its last run still ends.
      await eventually(launch).catch((error) => {
        noteGoneServer(`${program} on port ${port}`, 'an error when it was restarted', () => `${error}`)
        throw error
      })
    },
    async stop() {
      await end('SIGKILL')
      // A process that the server has forked, such as Redis's process that saves, outlives the server for a
      // moment, and may still write.
      await eventually(() => rmSync(folder, { recursive: true, force: true }))
    },
  }
}

/** Returns the processes that a stopped server has forked: PostgreSQL has one for each connection. */
function forkedBy({ pid }: ChildProcess): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const pids = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
    return pids.split(' ').filter(Boolean).map(Number)
  })
}

/**
 * Waits until a server that listens can be used, now and after each restart.
 *
 * @param check - Throws while the server cannot be used.
 */
export async function whenUsable(server: Server, check: () => Promise<void>): Promise<Server> {
  await eventually(check)
  return {
    ...server,
    async restart(signal) {
      await server.restart(signal)
      await eventually(check)
    },
  }
}

/** Uses setpriv, which replaces itself by the program, so the child's process id is the server's. */
export function asUser(user: string | undefined, program: string, words: string[]): [string, string[]] {
  if (user === undefined) return [program, words]
  return ['setpriv', ['--reuid', user, '--regid', user, '--init-groups', program, ...words]]
}

const handedOut = new Set<number>()

/**
 * Finds a free port below Linux's range of outgoing connections, so no connection takes the port before the
 * server starts.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
    if (handedOut.has(port)) continue
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.on('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (!isFree) continue
    handedOut.add(port)
    return port
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
