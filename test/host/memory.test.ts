import { mkdirSync, readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { pagesFolder } from '../../src/host/folder.js'
import { repository } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.ts'
import { describeWith, withMounts } from '../support/needs.ts'
import { deletePages, pagesOf } from '../support/pages.ts'
import {
  cleanUp,
  defaultFolder,
  failure,
  Obedient,
  opened,
  ownMemory,
  type Plan,
  stateFolder,
} from '../support/processes.ts'
import { proveReplacements } from './replaced-page.ts'

// Shared memory that is missing, or whose files are damaged, replaced or deleted.

afterEach(cleanUp)

/** A process with its own /dev/shm. */
const inMemory = (script: string) => new Obedient(ownMemory(script))
const ownName = basename(pagesFolder())
const pages = `/dev/shm/${ownName}`
const plan = (): Plan => ({ node: 1, namespace: freshNamespace() })

/** Expects that a generator is refused with a remedy, and works with state process. */
async function expectAdvice(process: Obedient, causeCode: string, remedy: string): Promise<void> {
  for (const own of [plan(), { ...plan(), state: 'host' }, { ...plan(), state: stateFolder().state }]) {
    const error = await failure(process.open(own))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode })
    expect(error.message).toContain(remedy)
  }
  await process.open({ ...plan(), state: 'process' })
  expect(await process.take(3)).toHaveLength(3)
  expect((await process.stats()).state).toBe('process')
}

describeWith(['native', 'linux', 'mounts'], 'without memory to share', () => {
  it('because /dev/shm is read-only, only state process is opened', async () => {
    await expectAdvice(
      inMemory('mount -o remount,ro /dev/shm'),
      'EROFS',
      'set GRAUPEL_STATE_FOLDER to a folder that can be written',
    )
  })

  it('because there is no /dev/shm, the pages are in /tmp, and are written in full', async () => {
    const { folder } = stateFolder()
    const devices = ['null', 'zero', 'random', 'urandom'].map(
      (name) => `touch ${name}; mount --bind /dev/${name} ${name}`,
    )
    const script = `mkdir ${folder}/dev; cd ${folder}/dev; ${devices.join('; ')}; mount --rbind ${folder}/dev /dev; cd /`
    // This package may lie in /tmp itself, and has to stay there.
    const own = repository.startsWith('/tmp/') ? `${folder}${repository.slice('/tmp'.length)}` : undefined
    const keep = own === undefined ? '' : `mkdir -p ${own}; mount --bind ${repository} ${own};`
    const within = (command: readonly string[]) =>
      withMounts(`${script}; ${keep} mount --rbind ${folder} /tmp`, command)
    const process = new Obedient({ env: defaultFolder, within })
    await process.open(plan())
    expect(await process.take(3)).toHaveLength(3)
    expect((await process.stats()).state).toBe('host')
    // All blocks are allocated, so no first access can fail.
    const blocks = await process.shell(`stat -c %b /tmp/${ownName}/*.page`)
    expect(Number(blocks) * 512).toBeGreaterThanOrEqual(16_384)
  })

  it('because /dev/shm is full, only state process is opened', async () => {
    const process = inMemory('mount -o remount,size=64k /dev/shm; head -c 65536 /dev/zero > /dev/shm/filler || true')
    await expectAdvice(process, 'ENOSPC', 'make room in its folder')
    await process.shell('rm /dev/shm/filler')
    await process.open(plan())
    expect((await process.stats()).state).toBe('host')
  })

  it("because /dev/shm has no room for the marks of 'reuse', 'reuse' is refused, and no process crashes", async () => {
    const process = inMemory('mount -o remount,size=8k /dev/shm')
    const own = plan()
    await process.open(own)
    await process.shell('head -c 65536 /dev/zero > /dev/shm/filler || true')
    expect(await failure(process.open({ ...own, onRollback: 'reuse' }))).toMatchObject({
      code: 'ERR_STATE_UNAVAILABLE',
      causeCode: 'ENOSPC',
    })
    expect(await process.take(3)).toHaveLength(3)
  })
})

describeWith(['native', 'linux', 'mounts'], 'the folder of the pages', () => {
  it.each([
    ['lets others in', `mkdir -m 755 ${pages}`, /by its mode 0755/],
    [
      'is a symbolic link',
      `mkdir -m 700 /dev/shm/real; ln -s /dev/shm/real ${pages}`,
      /a symbolic link, owned by user \d+, and /,
    ],
    ['is a file', `touch ${pages}`, /not a folder, owned by user \d+, and /],
  ])('is refused if it %s', async (_, script, message) => {
    const error = await failure(inMemory(script).open(plan()))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringMatching(message) })
    expect(error.message).toMatch(/^the folder .*; remove it, or set GRAUPEL_STATE_FOLDER /)
  })

  it('is in the folder of GRAUPEL_STATE_FOLDER, for all processes that have the variable', async () => {
    const { folder } = stateFolder()
    mkdirSync(`${folder}/chosen`)
    const env = { GRAUPEL_STATE_FOLDER: `${folder}/chosen` }
    const own = { ...plan(), onRollback: 'reuse' }
    const ids = [...(await (await opened(own, { env })).take(3)), ...(await (await opened(own, { env })).take(3))]
    expect(new Set(ids).size).toBe(6)
    expect(pagesOf(own.namespace ?? '')).toHaveLength(0)
    expect(readdirSync(`${folder}/chosen/${ownName}`)).toHaveLength(1)
  })

  it('is used by every later generator with the page, even a generator with state process', async () => {
    const own = plan()
    const [one, two] = [new Obedient(), new Obedient()]
    const ids: bigint[] = []
    for (const state of ['host', 'process', 'host']) {
      await one.open({ ...own, state })
      ids.push(...(await one.take(1000)))
      await one.close()
    }
    await two.open(own)
    await one.open(own)
    ids.push(...(await one.take(1000)), ...(await two.take(1000)), ...(await one.take(1000)))
    expect(new Set(ids).size).toBe(6000)
    expect(pagesOf(own.namespace ?? '')).toHaveLength(1)
  })

  it.each([
    ['is not absolute', 'state', /is 'state', .* set it to an absolute path/, 'ERR_OPTION_INVALID'],
    ['is not there', '/none/such', /^the folder \/none\/such\/graupel-.* mkdir failed/, 'ERR_STATE_UNAVAILABLE'],
  ])('is refused if GRAUPEL_STATE_FOLDER %s', async (_, path, message, code) => {
    const error = await failure(new Obedient({ env: { GRAUPEL_STATE_FOLDER: path } }).open(plan()))
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
  })
})

describeWith(['native', 'linux', 'mounts', 'root'], 'the folder of the pages', () => {
  it('is refused if it belongs to another user', async () => {
    const error = await failure(inMemory(`mkdir -m 700 ${pages}; chown 65534 ${pages}`).open(plan()))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringMatching(/owned by user 65534/) })
    expect(error.message).toMatch(/^the folder .*; remove it, or set GRAUPEL_STATE_FOLDER /)
  })
})

proveReplacements(4)

describeWith(['native', 'linux'], 'a page that is deleted', () => {
  it('is made again with its word, so ids go on in order', async () => {
    // The word is 24 seconds ahead, so that it is ahead after the time of a busy machine, too.
    const own = {
      ...plan(),
      layout: 'baidu',
      epochMs: 1_600_000_000_000,
      onOverflow: 'advance',
      maxAheadMs: 60_000,
    }
    const one = await opened(own)
    const ahead = await one.take(200_000)
    expect(await one.stats()).toMatchObject({ engine: 'native', state: 'host', aheadMs: expect.any(Number) })
    expect((await one.stats()).aheadMs).toBeGreaterThan(200)
    const names = readdirSync(pagesFolder())
    expect(pagesOf(own.namespace ?? ''), names.join()).toHaveLength(1)
    deletePages(own.namespace ?? '')
    const [next = 0n] = await one.take(1)
    const two = await opened(own)
    const [last = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(ahead.at(-1) ?? 0n)
    expect(last).toBeGreaterThan(next)
  })
})
