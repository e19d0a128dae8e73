import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProxy } from '../../stores/proxy.ts'
import { freePort } from '../../stores/servers.ts'
import { libfaketime } from '../../support/needs.ts'
import { stopProcess } from '../../support/stop-process.ts'
import { until } from '../../support/until.ts'
import { folder, type Running, run } from './process.ts'
import { StrictClients } from './strict-clients.ts'

/** Text of the shipped package that is replaced when a server loads it. */
interface Defect {
  readonly file: string
  readonly from: string
  readonly to: string
}

/** Rule 1 of docs/order-proof.md is left out: the holder answers for as long as its wall clock allows ids. */
export const noDeadline: Defect = { file: 'lease/index.js', from: 'return this.remainingMs === 0', to: 'return false' }

/** Returns variables for a process of Node that puts a defect into a file of `dist`. */
function variablesOf({ file, from, to }: Defect): Record<string, string> {
  const hooks = `export async function load(url, context, next) {
  const loaded = await next(url, context)
  if (!url.endsWith(${JSON.stringify(`/dist/${file}`)})) return loaded
  const parts = loaded.source.toString().split(${JSON.stringify(from)})
  if (parts.length !== 2) throw new Error('the text is there ' + (parts.length - 1) + ' times')
  return { ...loaded, source: parts.join(${JSON.stringify(to)}) }
}`
  const main = `import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}))`
  const path = join(folder, 'defect.mjs')
  writeFileSync(path, main)
  return { NODE_OPTIONS: `--import ${path}` }
}

/** One server of a strict group, with its own way to the store, and with a clock that can be set. */
class Member {
  readonly port: number
  readonly #env: Record<string, string>
  readonly #flags: readonly string[]
  readonly #clock: string | undefined
  readonly proxy
  #running: Running | undefined

  static async start(
    index: number,
    storePort: number,
    storeAt: (port: number) => string[],
    defect: Defect | undefined,
  ) {
    const proxy = await startProxy(storePort)
    return new Member(index, await freePort(), proxy, storeAt(proxy.port), defect)
  }

  private constructor(
    index: number,
    port: number,
    proxy: Awaited<ReturnType<typeof startProxy>>,
    store: readonly string[],
    defect: Defect | undefined,
  ) {
    this.port = port
    this.proxy = proxy
    this.#flags = ['--strict', '--advertise', `http://127.0.0.1:${port}`, '--port', `${port}`, ...store]
    // A false clock makes a process slow, so one member has the real one.
    this.#clock = index === 2 ? undefined : join(folder, `strict-clock-${index}-${port}`)
    this.#env = {
      ...(defect !== undefined && variablesOf(defect)),
      ...(this.#clock !== undefined && {
        ...{ LD_PRELOAD: libfaketime() ?? '', FAKETIME_TIMESTAMP_FILE: this.#clock },
        ...{ FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', TZ: 'UTC' },
      }),
    }
    this.setClock(0)
  }

  start(): void {
    this.#running = run([...this.#flags, '--log-level', 'error'], this.#env)
  }

  get child() {
    return (this.#running as Running).child
  }

  /** Starts it again if it has ended by itself, as a supervisor does: with a wrong clock it cannot start. */
  revive(): void {
    if (this.#hasEnded) this.start()
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  get pid(): number {
    return (this.#running as Running).pid
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    this.child.kill(signal)
    await this.#running?.ended
    this.start()
  }

  setClock(ms: number): void {
    if (this.#clock !== undefined) writeFileSync(this.#clock, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`)
  }
}

/** The counts of a run, and its inversions. */
export interface Figures {
  readonly answers: number
  readonly inversions: number
  readonly kills: number
  readonly stops: number
  readonly releases: number
  readonly cuts: number
  /** The milliseconds from each kill of a holder to the next answer, ascending. */
  readonly afterKill: readonly number[]
  /** The same for SIGTERM. */
  readonly afterRelease: readonly number[]
  readonly clients: StrictClients
}

export interface Plan {
  readonly storePort: number
  /** The flags for the store at a port. */
  readonly storeAt: (port: number) => string[]
  readonly random: () => number
  readonly wanted: { readonly answers: number; readonly kills: number }
  readonly defect?: Defect
  /** Ends the run at the first inversion. */
  readonly endsAtInversion?: boolean
}

/** Runs three servers and eight clients, and kills, stops, cuts off and ends the holder in turns. */
export async function runGroup({
  storePort,
  storeAt,
  random,
  wanted,
  defect,
  endsAtInversion,
}: Plan): Promise<Figures> {
  const members: Member[] = []
  for (const index of [0, 1, 2]) members.push(await Member.start(index, storePort, storeAt, defect))
  for (const member of members) member.start()
  const clients = new StrictClients(
    members.map(({ port }) => port),
    8,
  )
  const counts = { kills: 0, stops: 0, releases: 0, cuts: 0 }
  const [afterKill, afterRelease]: [number[], number[]] = [[], []]
  const { order } = clients
  const isDone = () =>
    (order.answers >= wanted.answers && counts.kills >= wanted.kills) ||
    (endsAtInversion === true && order.inversions.length > 0)
  const holder = () => members[clients.holder] as Member
  await clients.untilAnswered(performance.now())
  // More kills than other faults, because each fault of another kind takes as long.
  const kinds = ['kill', 'stop', 'cut', 'kill', 'release', 'kill'] as const
  for (let round = 0; !isDone(); round++) {
    // Clocks within the skew that a lease takes, mostly behind, and sometimes one that is far behind.
    for (const member of members) {
      member.setClock(random() < 0.1 ? -5000 : (random() - 0.85) * 1100)
      member.revive()
    }
    await sleep(wanted.answers / wanted.kills / 40 + random() * 300)
    const member = holder()
    member.revive()
    const startMs = performance.now()
    const kind = endsAtInversion ? 'cut' : (kinds[round % kinds.length] as (typeof kinds)[number])
    if (kind === 'kill') {
      counts.kills++
      await member.restart('SIGKILL')
      afterKill.push(await clients.untilAnswered(startMs))
    } else if (kind === 'release') {
      counts.releases++
      await member.restart('SIGTERM')
      afterRelease.push(await clients.untilAnswered(startMs))
    } else if (kind === 'stop') {
      counts.stops++
      await stopProcess(member.pid)
      await sleep(random() * 4000)
      member.child.kill('SIGCONT')
      await clients.untilAnswered(performance.now())
    } else {
      counts.cuts++
      const release = member.proxy.hold()
      await sleep(2500 + random() * 1500)
      release()
      await clients.untilAnswered(performance.now())
    }
  }
  await clients.stop()
  for (const member of members) {
    member.child.kill('SIGKILL')
    await until(() => member.child.exitCode !== null || member.child.signalCode !== null)
    member.proxy.close()
  }
  const ascending = (all: number[]) => all.sort((a, b) => a - b)
  const { answers, inversions } = order
  return {
    ...{ ...counts, answers, inversions: inversions.length, clients },
    ...{ afterKill: ascending(afterKill), afterRelease: ascending(afterRelease) },
  }
}
