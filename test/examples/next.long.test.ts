import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, engineInfo, layouts } from 'graupel'
import { beforeAll, describe, expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { copyPackage } from '../support/package-copy.ts'
import { until } from '../support/until.ts'
import { type App, examples, folderWith, linkPackages, order, orders, outlivesItsStore, start } from './app.ts'

const next = 'node_modules/next/dist/bin/next'
// NODE_ENV replaces the value of the test runner, which Next.js would obey. GRAUPEL_ENGINE proves that it
// finds the binary.
const variables = { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', GRAUPEL_ENGINE: engineInfo().kind }

// One app is built, and another is edited.
const built = folderWith()
const edited = folderWith()

beforeAll(() => {
  for (const folder of [built, edited]) {
    linkPackages(folder, 'next-packages')
    putPackage(join(folder, 'node_modules/graupel'))
    cpSync(join(repository, 'node_modules/node-gyp-build'), join(folder, 'node_modules/node-gyp-build'), {
      recursive: true,
    })
    cpSync(join(examples, 'next'), folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  }
}, 600_000)

/**
 * Copies the package. A link would be bundled, because Next.js resolves it to a path outside of node_modules.
 */
function putPackage(place: string): void {
  mkdirSync(join(place, 'build/Release'), { recursive: true })
  copyPackage(place)
  const { file } = engineInfo()
  if (file !== undefined) copyFileSync(file, join(place, 'build/Release/graupel.node'))
}

const nodeOf = (id: bigint | string) => decode(id, layouts.twitter).node

const serve = (folder: string, words: string[], more = {}) =>
  start(folder, next, { ...variables, STORE_URL: 'sqlite:fleet.db', ...more }, [
    ...words,
    ...['--hostname', '127.0.0.1', '--port', '0'],
  ])

async function build(): Promise<void> {
  const child = spawn(process.execPath, [next, 'build'], {
    cwd: built,
    env: { ...process.env, ...variables, STORE_URL: 'sqlite:fleet.db' },
  })
  let told = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (told += data))
  const [code] = await once(child, 'close')
  expect(code, told).toBe(0)
}

describe('the app of Next.js', { concurrent: true }, () => {
  it('is built without a lease; each of its servers has a node, and answers 503 while the store is unreachable', async () => {
    await build()
    expect(existsSync(join(built, 'fleet.db'))).toBe(false)
    const deployed = readFileSync(join(built, '.next/server/app/orders/route.js.nft.json'), 'utf8')
    expect(deployed).toContain('node-gyp-build/index.js')
    if (engineInfo().kind === 'native') expect(deployed).toContain('/graupel.node"')

    const apps = await Promise.all([serve(built, ['start']), serve(built, ['start'])])
    const lists = await Promise.all(Array.from({ length: 8 }, (_, index) => orders(apps[index % 2] as App, 25)))
    expect(new Set(lists.flat()).size).toBe(200)
    const nodes = (first: number) =>
      new Set(
        lists
          .filter((_, index) => index % 2 === first)
          .flat()
          .map(nodeOf),
      )
    expect([...nodes(0)].filter((node) => nodes(1).has(node))).toEqual([])

    const [first, second] = apps
    expect((await order(first, undefined)).status).toBe(400)
    // Next.js prints how it was ended.
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(143)

    await outlivesItsStore(first, join(built, 'fleet.db'))
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(143)
  })

  it('keeps its lease during edits, and has the TypeScript engine in the Edge Runtime', async () => {
    // The file exists before the edit, because Next.js notices new files late on a busy machine.
    mkdirSync(join(edited, 'app/edge'))
    const route = `import { createGenerator } from 'graupel'
export const runtime = 'edge'
export const GET = () => {
  const { engine, state } = createGenerator({ node: 7 })
  return Response.json({ engine, state })
}`
    writeFileSync(join(edited, 'app/edge/route.ts'), route)
    // A busy machine may stop the process for longer than the usual window while Next.js compiles.
    const ids = join(edited, 'ids.ts')
    writeFileSync(
      ids,
      readFileSync(ids, 'utf8').replace('acquireLease({ store })', 'acquireLease({ store, windowMs: 600_000 })'),
    )
    const app = await serve(edited, ['dev'], { NODE_ENV: 'development' })
    const [before] = await orders(app, 1)
    for (const file of ['ids.ts', 'app/orders/route.ts']) {
      const path = join(edited, file)
      writeFileSync(path, readFileSync(path, 'utf8').replace('give an item', 'edited'))
      appendFileSync(path, '// edited\n')
    }
    await until(async () => (await (await order(app, undefined)).text()).includes('edited'))
    const [after] = await orders(app, 1)
    expect(nodeOf(after as bigint)).toBe(nodeOf(before as bigint))

    expect(await (await fetch(`${app.url}/edge`)).json()).toEqual({ engine: 'js', state: 'process' })
    app.child.kill('SIGTERM')
    await app.ended
  })
})
