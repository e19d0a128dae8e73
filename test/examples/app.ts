import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { installOnce } from '../package/consumer.ts'
import { load } from '../stores/kinds/kind.ts'
import { repository } from '../support/documents.ts'
import { hangMs, until } from '../support/until.ts'

// The apps of examples/ as processes, called over HTTP.

export const examples = join(repository, 'examples')

/** Makes a folder with these examples inside the package, so that they find graupel, fastify and libsql. */
export function folderWith(...names: string[]): string {
  const folder = mkdtempSync(join(repository, 'dist', 'examples-'))
  for (const name of names) copyFileSync(join(examples, name), join(folder, name))
  // Next.js may still write files if its test has failed.
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/**
 * Installs the packages of test/examples/packages, or of another folder beside it, and links a folder to
 * them.
 */
export function linkPackages(folder: string, place = 'packages'): void {
  // tRPC asks for another TypeScript than this project has.
  const installed = installOnce(`test/examples/${place}`, ['--ignore-scripts', '--legacy-peer-deps'])
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(installed)) {
    if (!name.startsWith('.')) symlinkSync(join(installed, name), join(folder, 'node_modules', name))
  }
}

export interface App {
  readonly child: ChildProcess
  readonly url: string
  /** The output until now. */
  told(): string
  /** The exit code, or the signal. */
  readonly ended: Promise<number | string>
}

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** Starts a program on a free port, and waits until it prints the port. */
export async function start(
  folder: string,
  program: string,
  variables: Record<string, string>,
  words: readonly string[] = [],
): Promise<App> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { ...process.env, PORT: '0', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let told = ''
  child.stdout.on('data', (data) => (told += data))
  child.stderr.on('data', (data) => (told += data))
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  const port = () => /http:\/\/\S+:(\d+)\b/.exec(told)?.[1]
  await until(() => port() !== undefined || child.exitCode !== null)
  if (port() === undefined) throw new Error(`${program} has ended: ${told}`)
  return { child, url: `http://127.0.0.1:${port()}`, told: () => told, ended }
}

export function order({ url }: Pick<App, 'url'>, item: string | undefined): Promise<Response> {
  return fetch(`${url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ item }),
  })
}

/** Places orders one after the other, whose ids have to ascend, and returns the ids. */
export async function orders(app: Pick<App, 'url'>, count: number): Promise<bigint[]> {
  const ids: bigint[] = []
  for (let item = 0; item < count; item++) {
    const answer = await order(app, `item ${item}`)
    const { id } = (await answer.json()) as { id: string }
    expect([answer.status, typeof id]).toEqual([201, 'string'])
    ids.push(BigInt(id))
  }
  expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] as bigint))).toBe(true)
  return ids
}

/**
 * Removes the table of leases until orders are refused, and restores it until orders are taken. @param file -
 * The database of the store.
 */
export async function outlivesItsStore(app: Pick<App, 'url'>, file: string): Promise<void> {
  const Database = load('libsql')
  const database = new Database(file)
  // The apps renew their leases meanwhile.
  database.exec(`PRAGMA busy_timeout = ${hangMs}`)
  database.exec('ALTER TABLE graupel_store RENAME TO elsewhere')
  await isRefused(app, 'ERR_LEASE_EXPIRED')
  database.exec('ALTER TABLE elsewhere RENAME TO graupel_store')
  database.close()
  await until(async () => (await order(app, 'tea')).status === 201)
}

/** Places orders until one is refused. The refusal has to be 503 with a time to wait. */
export async function isRefused(app: Pick<App, 'url'>, code: string): Promise<void> {
  let refusal: Response | undefined
  await until(async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => order(app, 'tea')))
    refusal = answers.find(({ status }) => status !== 201)
    await Promise.all(answers.map((answer) => answer === refusal || answer.arrayBuffer()))
    return refusal !== undefined
    // A client has fetched some thousand ids in advance.
  })
  expect([refusal?.status, refusal?.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)])
  expect(await refusal?.json()).toEqual({ message: 'try again later', code })
}
