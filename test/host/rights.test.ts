import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { engines, freshNamespace } from '../support/engines.ts'
import { expectAscending } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { deletePages, pagesOf } from '../support/pages.ts'
import {
  cleanUp,
  failure,
  Obedient,
  opened,
  ownMemory,
  type Plan,
  stateFolder,
  testClock,
} from '../support/processes.ts'
import { until } from '../support/until.ts'

// Processes that give up root's rights, permanently or for a moment, and can no longer look for their state.

afterEach(cleanUp)

const stranger = 65_534
/** Waits for another tick, in which a process that makes an id looks for the page. */
const tick = async () => {
  const ms = Date.now()
  await until(() => Date.now() > ms + 1)
}

describeWith(['native', 'linux', 'root', 'faketime', 'mounts'], 'after its process has given up its rights', () => {
  it.each(['host', 'file'])('a generator with state %s goes on, and harms no other generator', async (place) => {
    const { state } = stateFolder()
    const own: Plan = { node: 1, namespace: freshNamespace(), ...(place === 'file' && { state }) }
    const first = await opened(own)
    const second = await opened(own)
    const ids = await first.take(3)
    await first.becomeUser(stranger)
    for (let i = 0; i < 5; i++) {
      await tick()
      ids.push(...(await first.take(2)), ...(await second.take(2)))
    }
    // The thread raises the ceiling through the open file.
    const { ceilingMs } = await first.stats()
    if (place === 'file') {
      const { ids: more, error } = await first.issue({ rises: 1, pauseMs: 20 })
      expect(error).toBeUndefined()
      ids.push(...more)
      expect((await first.stats()).ceilingMs ?? 0).toBeGreaterThan(ceilingMs ?? 0)
    }
    await first.close()
    await second.kill()
    const third = await opened(own)
    ids.push(...(await third.take(2)))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.at(-1)).toBe(ids.reduce((max, id) => (id > max ? id : max)))
    expect(pagesOf(own.namespace ?? '')).toHaveLength(1)
  })

  it('for a moment, the process does not disturb other processes', async () => {
    const own: Plan = { node: 1, namespace: freshNamespace() }
    const first = await opened(own)
    const second = await opened(own)
    const ids: bigint[] = []
    for (let i = 0; i < 3; i++) {
      await first.actAs(stranger)
      await tick()
      ids.push(...(await first.take(2)), ...(await second.take(2)))
      await first.actAs(0)
      await tick()
      ids.push(...(await first.take(2)), ...(await second.take(2)))
    }
    await second.open(own)
    ids.push(...(await second.take(2)))
    expect(new Set(ids).size).toBe(ids.length)
    expect(pagesOf(own.namespace ?? '')).toHaveLength(1)
  })

  it('a process remembers the ids of an ended thread whose page it can no longer find, even if its clock goes back', async () => {
    const clock = testClock()
    const memory = ownMemory()
    const process = new Obedient({ ...memory, env: { ...memory.env, ...clock.env } })
    const own: Plan = { node: 1, namespace: freshNamespace(), maxAheadMs: 10_000 }
    const worker = process.second('inOtherThread')
    await worker.open(own)
    const before = await worker.take(3000)
    await process.endThread()
    await process.actAs(stranger)
    await clock.setBack(1, process)
    await process.open(own)
    expect((await process.stats()).state).toBe('host')
    // The next id is above all earlier ids, at a time that the clock does not show.
    expectAscending(before, await process.take(3000))
  })

  it('a page that is then deleted is not made in the folder of the other user', async () => {
    const own: Plan = { node: 1, namespace: freshNamespace() }
    const first = await opened(own)
    await first.take(2)
    await first.actAs(stranger)
    deletePages(own.namespace ?? '')
    await tick()
    // The process cannot see the deletion. A process that can makes a new page, and seals the old page.
    const second = await opened(own)
    const ids = await second.take(2)
    await tick()
    await first.actAs(0)
    ids.push(...(await first.take(2)), ...(await second.take(2)))
    expect(new Set(ids).size).toBe(4 + 2)
    expect(pagesOf(own.namespace ?? '')).toHaveLength(1)
    await first.actAs(stranger)
    await tick()
    await first.take(1)
    await first.actAs(0)
  })

  it('a sealed state that cannot be looked for is reported as an error of the system, not as damage', async () => {
    const own: Plan = { node: 1, namespace: freshNamespace() }
    const first = await opened(own)
    const second = await opened(own)
    await first.take(2)
    await second.take(2)
    await first.actAs(stranger)
    deletePages(own.namespace ?? '')
    await tick()
    await second.take(2)
    await tick()
    expect(await failure(first.take(1))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EACCES' })
    await first.actAs(0)
    await tick()
    expect(await first.take(1)).toHaveLength(1)
  })
})

describeWith(['linux', 'root'], 'with a umask that takes all rights', () => {
  it.each(engines)('the folder of pages is open to its user alone: %s', (engine) => {
    const parent = mkdtempSync(join(tmpdir(), 'graupel-umask-'))
    chmodSync(parent, 0o777)
    const program = `
      const { createGenerator, engineInfo } = require(${JSON.stringify(join(repository, 'dist/index.cjs'))})
      engineInfo()
      process.setgid(${stranger})
      process.setuid(${stranger})
      process.umask(0o777)
      createGenerator({ node: 1 }).next()
    `
    const env = { ...process.env, GRAUPEL_ENGINE: engine, GRAUPEL_STATE_FOLDER: parent }
    try {
      const { status, stderr } = spawnSync(process.execPath, ['-e', program], { env, encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(statSync(join(parent, `graupel-${stranger}`)).mode & 0o777).toBe(0o700)
    } finally {
      rmSync(parent, { recursive: true })
    }
  })
})
