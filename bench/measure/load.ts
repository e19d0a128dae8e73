import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { get as getByTls } from 'node:https'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { smallYoung } from './fresh.ts'

// Runs servers on one processor, and the load on another. wrk makes the load, because it takes a third of the
// server's time. autocannon takes more time than the server, so it would be measured itself.

const [serverProcessor, loadProcessor] = ['0', '1'] as const
/** The connections of a load. */
export const connections = 64

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const emptyServer = fileOf('../workloads/empty-server.mjs')
const reporter = new URL('memory-reporter.mjs', import.meta.url).href
const script = fileOf('wrk.lua')

export const runs = (command: string) => spawnSync(command, ['--version'], { stdio: 'ignore' }).error === undefined

/** Names a missing program or processor that a client on a processor of its own needs. */
export function missingForClient(): string | undefined {
  if (!runs('taskset')) return 'taskset (Debian package util-linux)'
  return availableParallelism() < 2 ? 'second processor' : undefined
}

/** Names a missing program or processor that a service under load needs. */
export function missingForLoad(): string | undefined {
  return missingForClient() ?? (runs('wrk') ? undefined : 'wrk (Debian package wrk)')
}

/** Names a missing program that a service under load needs if it has a certificate. */
export function missingForTls(): string | undefined {
  return missingForLoad() ?? (runs('openssl') ? undefined : 'openssl (Debian package openssl)')
}

/** Moves this process to the processor of the load. */
export function pinLoad() {
  const { status, stderr } = spawnSync('taskset', ['-acp', loadProcessor, `${process.pid}`], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`taskset: ${stderr}`)
}

export interface Server {
  url: string
  /** Returns the processor time so far, in microseconds. */
  cpuUs(): number
  /**
   * Resolves to the bytes in use after a garbage collection. Only for a server that was started by
   * `reporting`.
   */
  memory(): Promise<{ heap: number; resident: number }>
}

/** A request that each answer of an empty server is like. */
interface Asked {
  path: string
  accept?: string
}

/** The files of a certificate and its key. */
interface Pair {
  cert: string
  key: string
}

interface Servers {
  /**
   * Starts a server of node:http, or of node:https with a pair, that only answers: with the headers and the
   * number of bytes of the service's answer to a request. @throws Error if their answers differ otherwise
   */
  empty(service: Server, asked: Asked, pair?: Pair): Promise<Server>
  /** Starts the service with some options. */
  start(...options: string[]): Promise<Server>
  /** Makes a certificate for 127.0.0.1. */
  pair(): Pair
  /** Starts the service with a reporter of its memory. */
  reporting(): Promise<Server>
  /** Starts a redis-server that keeps nothing on disk. */
  redis(port: number): Promise<Server>
}

/** Lets `use` start servers, and ends them afterwards. @param build - The folder of the service. */
export async function withServers<T>(build: string, use: (servers: Servers) => Promise<T>): Promise<T> {
  // The bench ends its children by SIGTERM, a terminal by SIGINT; the servers end with the process.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1))
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  const started: ChildProcess[] = []
  const kill = () => {
    for (const child of started) child.kill('SIGKILL')
  }
  process.once('exit', kill)
  /** @param ready - The text that a server writes when it is ready; the address of the service. */
  const run = async (command: readonly string[], ready = /https?:\/\/[\w.:]+/): Promise<Server> => {
    const child = spawn('taskset', ['-c', serverProcessor, ...command], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    started.push(child)
    let said = ''
    child.stderr?.on('data', (data) => {
      said = `${said}${data}`.slice(-2000)
    })
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const [url] = line.match(ready) ?? []
      if (url === undefined) continue
      const memory = async () => {
        child.send('memory')
        return (await once(child, 'message'))[0]
      }
      return { url, cpuUs: () => cpuUsOf(child.pid as number), memory }
    }
    throw new Error(`a server has not started: ${said}`)
  }
  const service = (flags: readonly string[], options: readonly string[]) =>
    run([
      process.execPath,
      ...flags,
      join(build, 'server/dist/main.js'),
      '--port',
      '0',
      '--data',
      join(folder, `${started.length}`),
      ...options,
    ])
  try {
    return await use({
      async empty(service, asked, pair) {
        const { head, body } = await answerOf(service, asked)
        // Node writes these itself.
        const headers = head.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)).flat()
        const tls = pair && { cert: readFileSync(pair.cert, 'latin1'), key: readFileSync(pair.key, 'latin1') }
        const server = await run([
          process.execPath,
          emptyServer,
          JSON.stringify({ headers, body: body.toString('base64'), tls }),
        ])
        const answer = await answerOf(server, asked)
        const shown = (one: typeof answer) =>
          JSON.stringify([one.head.filter(([name]) => !/^date$/i.test(name)), one.body.length])
        if (shown(answer) !== shown({ head, body }))
          throw new Error(`the empty server answers ${shown(answer)}, and the service ${shown({ head, body })}`)
        return server
      },
      pair: () => pairIn(folder),
      start: (...options) => service([], options),
      redis: (port) =>
        run(['redis-server', '--port', `${port}`, '--save', '', '--appendonly', 'no'], /Ready to accept/),
      reporting: () => service(['--expose-gc', ...smallYoung, '--import', reporter], []),
    })
  } finally {
    const ended = started.map((child) => child.exitCode === null && child.signalCode === null && once(child, 'exit'))
    kill()
    await Promise.all(ended)
    process.off('exit', kill)
    rmSync(folder, { recursive: true, maxRetries: 3 })
  }
}

/** Makes a certificate that is its own issuer. */
function pairIn(folder: string): Pair {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=graupel', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  )
  return { cert, key }
}

/** Sends one request, and resolves to the headers of the answer, in pairs, and its body. */
async function answerOf({ url }: Server, { path, accept = 'application/json' }: Asked) {
  const options = { agent: false, headers: { accept, connection: 'keep-alive' }, rejectUnauthorized: false }
  const sent = (url.startsWith('https:') ? getByTls : get)(`${url}${path}`, options)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const body = await buffer(answer)
  sent.destroy()
  const { rawHeaders } = answer
  const head = Array.from(
    { length: rawHeaders.length / 2 },
    (_, i) => rawHeaders.slice(2 * i, 2 * i + 2) as [string, string],
  )
  return { head, body }
}

/** Runs a program on the processor of the load. Resolves to what it wrote. @throws Error if it fails */
export async function runLoad(command: readonly string[]): Promise<string> {
  const child = spawn('taskset', ['-c', loadProcessor, ...command])
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      said += data
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command[0]} ended with exit code ${code}: ${said.trim()}`)
  return said
}

/** Reads /proc/PID/stat, which counts in hundredths of a second (proc(5)). */
function cpuUsOf(pid: number) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

export interface Load {
  path?: string
  accept?: string
  seconds: number
  /** @default 64 */
  connections?: number
  /** The number of bytes of answers that are kept. */
  keepBytes?: number
  /** The number of requests that a connection sends at once. */
  depth?: number
}

/** The line that wrk.lua prints. */
interface Counts {
  requests: number
  us: number
  p99Us: number
  maxUs: number
  kept: number
  /** The number of failed requests by kind of failure; empty if no request failed. */
  failed: string
}

/** Sends requests for some seconds. @throws Error if a request fails */
export async function wrk({ url, cpuUs }: Server, { path = '/', accept = '*/*', seconds, ...more }: Load) {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  const file = join(folder, 'answers')
  try {
    const { keepBytes = 0, depth = 1, connections: open = connections } = more
    const parameters = [keepBytes > 0 ? file : '-', keepBytes, depth].map(String)
    const flags = ['-t1', `-c${open}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, '-H', `accept: ${accept}`]
    const beforeUs = cpuUs()
    const said = await runLoad(['wrk', ...flags, `${url}${path}`, '--', ...parameters])
    const found = said.match(/^\{.*\}$/m)
    if (found === null) throw new Error(`wrk wrote no counts: ${said.trim()}`)
    const counts: Counts = JSON.parse(found[0])
    if (counts.failed !== '' || counts.requests === 0)
      throw new Error(`${path}: of ${counts.requests} requests failed: ${counts.failed}`)
    return {
      ...counts,
      /** The server's processor time for a request. */
      cpuUs: (cpuUs() - beforeUs) / counts.requests,
      rate: (counts.requests / counts.us) * 1e6,
      answers: keepBytes > 0 ? readFileSync(file) : undefined,
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
