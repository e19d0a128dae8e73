import { copyFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { descentsIn, expectRefusedAt } from '../support/ids.ts'
import { describeWith, withMounts, withoutRootsRights } from '../support/needs.ts'
import { deletePages } from '../support/pages.ts'
import { cleanUp, type Failure, failure, Obedient, opened, type Plan, stateFolder } from '../support/processes.ts'
import { until } from '../support/until.ts'

// A generator whose state file can no longer be written: it makes ids up to the ceiling, says why it stops
// there, and continues as soon as the file can be written again.

afterEach(cleanUp)

const reserveMs = 300
const plan = (state: string): Plan => ({
  node: 1,
  namespace: freshNamespace(),
  state,
  reserveMs,
  maxWaitMs: 2000,
  openTimeoutMs: 2000,
})

/** Lets a process meet a fault, and removes the fault. */
async function through(process: Obedient, trouble: () => unknown, mend: () => unknown, expected: Partial<Failure>) {
  const before = await process.issue({ count: 20 })
  await trouble()
  const during = await process.issueUntilRefused()
  expect(during.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', ...expected })
  expectRefusedAt(during.ceilingMs, during)
  // Each call throws that error, and makes no id.
  const again = await process.issueUntilRefused()
  expect(again.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', ...expected })
  expect(again.ids).toHaveLength(0)
  await mend()
  const after = await process.issue({ rises: 2 })
  expect(after.error).toBeUndefined()
  expect(after.ceilingMs).toBeGreaterThan(during.ceilingMs as number)
  expect(descentsIn(BigUint64Array.from([...before.ids, ...during.ids, ...after.ids]))).toBe(0)
  await process.close()
}

describeWith(['native', 'linux', 'shim'], 'a running generator whose state file', () => {
  it.each([
    ['cannot be written, as the disk is full', 'pwrite 28', 'ENOSPC'],
    ['cannot be written, as the disk has become read-only', 'pwrite 30', 'EROFS'],
    ['cannot be synced, as the disk fails', 'fdatasync 5', 'EIO'],
    ['cannot be synced, as the disk is full', 'fdatasync 28', 'ENOSPC'],
  ])('%s goes on to its ceiling, and again when it can be', async (_, order, causeCode) => {
    const disk = stateFolder()
    const process = await opened(plan(disk.state), disk)
    await through(
      process,
      () => disk.order(order),
      () => disk.order(),
      { causeCode },
    )
  })

  it('is synced slowly waits for the sync, for maxWaitMs at most', async () => {
    const disk = stateFolder()
    const own = { ...plan(disk.state), reserveMs: 600 }
    const process = await opened({ ...own, maxWaitMs: 30_000 }, disk)
    disk.order('slow 400')
    const { waits } = await process.stats()
    // A sync begins in the middle of the 600 ms, and ends after its end.
    const waited = await process.issue({ rises: 2 })
    expect(waited.error).toBeUndefined()
    expect((await process.stats()).waits).toBeGreaterThan(waits)
    disk.order()
    await process.close()
    await process.open({ ...own, maxWaitMs: 300 })
    disk.order('slow 2500')
    const refused = await process.issueUntilRefused()
    expect(refused.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: undefined })
    expect(refused.error?.message).toMatch(/maxWaitMs \(300\)/)
    expectRefusedAt(refused.ceilingMs, refused)
    disk.order()
    // The slow sync has to end first.
    await until(async () => (await process.issue({ count: 1 })).error === undefined)
  })

  it('cannot be made because the disk fails is not opened, and leaves no file behind', async () => {
    const disk = stateFolder()
    disk.order('fdatasync 5')
    const process = new Obedient(disk)
    const own = plan(disk.state)
    expect(await failure(process.open(own))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EIO' })
    expect((await process.shell(`ls -A ${disk.folder}`)).split('\n')).toEqual(['watch', ''])
    disk.order()
    await process.open(own)
    expect((await process.issue({ count: 20 })).error).toBeUndefined()
  })
})

describeWith(['native', 'linux'], 'a running generator whose state file', () => {
  const file = () => {
    const { folder, state } = stateFolder()
    return { state, aside: join(folder, 'aside'), copy: join(folder, 'copy') }
  }

  it('was deleted goes on to its ceiling, and again when it is put back', async () => {
    const { state, aside } = file()
    const process = await opened(plan(state))
    await through(
      process,
      () => renameSync(state, aside),
      () => renameSync(aside, state),
      { message: expect.stringMatching(/was deleted while it was in use/) as unknown as string },
    )
  })

  it('was replaced goes on to its ceiling, and again when it is put back', async () => {
    const { state, aside } = file()
    const process = await opened(plan(state))
    await through(
      process,
      () => {
        renameSync(state, aside)
        copyFileSync(aside, state)
      },
      () => renameSync(aside, state),
      { message: expect.stringMatching(/was replaced by another file while/) as unknown as string },
    )
  })

  it('was overwritten by the file of another memory goes on to its ceiling, and not beyond', async () => {
    const { state, copy } = file()
    const own = plan(state)
    // A state file of the same ids, whose page is gone.
    const former = await opened(own)
    await former.take(1)
    await former.kill()
    copyFileSync(state, copy)
    deletePages(own.namespace ?? '')
    const process = await opened(own)
    await process.issue({ count: 20 })
    copyFileSync(copy, state)
    const during = await process.issueUntilRefused()
    expect(during.error?.message).toMatch(/was overwritten while/)
    expectRefusedAt(during.ceilingMs, during)
  })

  it.each([
    ['truncated', (state: string) => truncateSync(state, 0)],
    ['overwritten with something else', (state: string) => writeFileSync(state, 'x'.repeat(8192))],
  ])('was %s goes on to its ceiling, and says that it is damaged', async (_, damage) => {
    const { state } = file()
    const process = await opened(plan(state))
    await process.issue({ count: 20 })
    damage(state)
    const during = await process.issueUntilRefused()
    expect(during.error?.code).toBe('ERR_STATE_CORRUPT')
    expectRefusedAt(during.ceilingMs, during)
  })

  it('was deleted and made again by a restart is one state with the new file, if the page exists', async () => {
    const { state } = file()
    const own = { ...plan(state), clockOffsetMs: 0, maxAheadMs: 100_000 }
    const one = await opened(own)
    const [last = 0n] = await one.take(1)
    await one.kill()
    rmSync(state)
    const two = await opened({ ...own, clockOffsetMs: -50_000 })
    const [next = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(last)
  })
})

describeWith(['native', 'linux', 'setpriv'], 'a generator whose folder', () => {
  it('no longer admits the process still writes through the open file', async () => {
    const { folder, state } = stateFolder()
    const process = await opened(plan(state), { within: withoutRootsRights })
    await process.shell(`chmod 0 ${folder}`)
    expect((await failure(process.shell(`ls ${folder}`))).message).toContain('Permission denied')
    const { ids, error } = await process.issue({ rises: 3 })
    expect(error).toBeUndefined()
    expect(descentsIn(ids)).toBe(0)
    await process.shell(`chmod 700 ${folder}`)
    await process.close()
  })

  it('or whose file may not be written is refused until writing is allowed', async () => {
    const { folder, state } = stateFolder()
    const own = plan(state)
    const process = new Obedient({ within: withoutRootsRights })
    await process.shell(`chmod 500 ${folder}`)
    expect(await failure(process.open(own))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EACCES' })
    await process.shell(`chmod 700 ${folder}`)
    await process.open(own)
    await process.close()
    await process.shell(`chmod 400 ${state}`)
    expect(await failure(process.open(own))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EACCES' })
    await process.shell(`chmod 600 ${state}`)
    await process.open(own)
  })
})

describeWith(['native', 'linux', 'mounts'], 'a state file on a file system', () => {
  it('that is full is not made, leaves no file behind, and is made when there is room', async () => {
    const { folder } = stateFolder()
    const within = (command: readonly string[]) => withMounts(`mount -t tmpfs -o size=64k none ${folder}`, command)
    const process = new Obedient({ within })
    const own = plan(join(folder, 'ids.state'))
    await process.shell(`head -c 65536 /dev/zero > ${folder}/filler`)
    expect(await failure(process.open(own))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'ENOSPC' })
    expect((await process.shell(`ls -A ${folder}`)).split('\n')).toEqual(['filler', ''])
    await process.shell(`rm ${folder}/filler`)
    await process.open(own)
    // An existing state file needs no more room.
    await process.shell(`! head -c 65536 /dev/zero > ${folder}/filler`)
    expect((await process.issue({ rises: 2 })).error).toBeUndefined()
  })

  it('that is read-only is refused until it may be written', async () => {
    const { folder } = stateFolder()
    const within = (command: readonly string[]) => withMounts(`mount -t tmpfs none ${folder}`, command)
    const process = new Obedient({ within })
    const own = plan(join(folder, 'ids.state'))
    await process.open(own)
    const [last = 0n] = await process.take(1)
    await process.close()
    await process.shell(`mount -o remount,ro ${folder}`)
    expect(await failure(process.open(own))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EROFS' })
    await process.shell(`mount -o remount,rw ${folder}`)
    await process.open(own)
    expect((await process.take(1))[0]).toBeGreaterThan(last)
  })
})
