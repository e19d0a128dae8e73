import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { repository } from './documents.ts'
import { describeWith, withMounts } from './needs.ts'

// A copy of this clone is built by several processes, and where it cannot be written.

const clone = mkdtempSync(join(tmpdir(), 'graupel-clone-'))
const args = ['--import', 'tsx', 'scripts/build.ts', 'library']
// A test of a run that has built does not build; here it has to.
const env = { ...process.env, NODE_ENV: undefined, GRAUPEL_TEST_BUILT: undefined }

beforeAll(() => {
  for (const name of readdirSync(repository)) {
    if (/^(node_modules|dist|build|prebuilds|test|bench|\..*)$/.test(name)) continue
    cpSync(join(repository, name), join(clone, name), {
      recursive: true,
      filter: (path) => !/[\\/](node_modules|dist)\b/.test(path.slice(repository.length)),
    })
  }
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'), 'junction')
})
afterAll(() => rmSync(clone, { recursive: true, force: true }))

/**
 * Builds the library, and returns the exit code and the output.
 *
 * @param hear - Is called with the output until then.
 * @param more - Other parts to build.
 */
async function build(hear = (_: string) => {}, ...more: string[]): Promise<[code: unknown, told: string]> {
  const child = spawn(process.execPath, [...args, ...more], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let told = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      told += data
      hear(told)
    })
  }
  const [code] = await once(child, 'close')
  return [code, told]
}

const built = ['dist/index.js', 'dist/index.cjs', 'dist/cli/main.js', 'server/dist/main.js']
const times = () => built.map((file) => statSync(join(clone, file)).mtimeMs)

const waits = 'graupel: waits until another process has built this clone; if there is none, remove dist/.lock\n'

it('builds at the same time all succeed, and leave no file behind', async () => {
  const outcomes = await Promise.all([1, 2, 3].map(() => build(undefined, 'server')))
  for (const [code, told] of outcomes) expect([code, told.replaceAll(waits, '')]).toEqual([0, ''])
  for (const file of built) expect(existsSync(join(clone, file)), file).toBe(true)
  const left = readdirSync(join(clone, 'dist')).filter((name) => name.startsWith('.'))
  expect(left).toEqual(['.library'])
})

it('a build waits for the build of another process', async () => {
  const before = times()
  const lock = join(clone, 'dist/.lock')
  writeFileSync(lock, `${process.pid}`)
  appendFileSync(join(clone, 'src/index.ts'), '\n')
  const outcome = await build((told) => {
    if (told !== waits) return
    expect(times()).toEqual(before)
    rmSync(lock)
  })
  expect(outcome[0]).toBe(0)
  expect(times()[0]).toBeGreaterThan(before[0] as number)
})

it.each(['its number', 'nothing'])(
  'a build that was killed after it has written %s does not stop the next',
  async (what) => {
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    const lock = join(clone, 'dist/.lock')
    writeFileSync(lock, what === 'nothing' ? '' : `${pid}`)
    utimesSync(lock, new Date(0), new Date(0))
    appendFileSync(join(clone, 'src/index.ts'), '\n')
    expect(await build()).toEqual([0, ''])
    expect(existsSync(join(clone, 'dist/.lock'))).toBe(false)
  },
)

it('a build makes what was deleted', async () => {
  const made = ['server/dist/main.js', 'server/dist/docs/service.md', 'server/dist/page/index.html']
  for (let round = 0; round < 2; round++) {
    rmSync(join(clone, 'server/dist'), { recursive: true, force: true })
    expect((await build(undefined, 'server', 'page'))[0]).toBe(0)
    for (const file of made) expect(existsSync(join(clone, file)), file).toBe(true)
  }
})

it('a copy with other times is fresh, and a change is not', async () => {
  const before = times()
  const now = new Date()
  for (const name of readdirSync(join(clone, 'src'), { recursive: true, encoding: 'utf8' })) {
    utimesSync(join(clone, 'src', name), now, now)
  }
  expect(await build()).toEqual([0, ''])
  expect(times()).toEqual(before)
  appendFileSync(join(clone, 'src/index.ts'), '\n')
  expect(await build()).toEqual([0, ''])
  expect(times()[0]).toBeGreaterThan(before[0] as number)
})

describeWith(['mounts'], 'a clone that cannot be written', () => {
  const readOnly = () => {
    const script = `mount --bind '${clone}' '${clone}'; mount -o remount,bind,ro '${clone}'; cd '${clone}'`
    const [command = '', ...words] = withMounts(script, [process.execPath, ...args])
    const { status, stdout, stderr } = spawnSync(command, words, { env, encoding: 'utf8' })
    return [status, stdout + stderr]
  }

  it('is left as it is if it is fresh, and refused in one line if it is stale', () => {
    expect(readOnly()).toEqual([0, ''])
    appendFileSync(join(clone, 'src/index.ts'), '\n')
    expect(readOnly()).toEqual([
      1,
      'graupel: a part of the build is stale, and this clone cannot be written (EROFS); run npm run build where it can\n',
    ])
  })
})

it('without devDependencies, npm says which packages are missing and what to run', () => {
  const bare = mkdtempSync(join(tmpdir(), 'graupel-bare-'))
  try {
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'))
    const [first] = scripts.prepare.split(' && ')
    cpSync(join(repository, 'scripts/check-tools.js'), join(bare, 'scripts/check-tools.js'))
    const { status, stderr } = spawnSync(first, { cwd: bare, shell: true, encoding: 'utf8' })
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/devDependencies.*NODE_ENV=production.*npm ci --include=dev\n$/),
    ])
    expect(spawnSync(first, { cwd: repository, shell: true }).status).toBe(0)
  } finally {
    rmSync(bare, { recursive: true })
  }
})
