import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, failure, Obedient, opened, ownMemory, type Plan, stateFolder } from '../support/processes.ts'
import { proveCuts } from './power-cuts.ts'

afterEach(cleanUp)

proveCuts(3, 2)

describeWith(['native', 'linux', 'mounts'], 'a process that starts again', () => {
  it('continues from the page if the system was not restarted, so no time is lost', async () => {
    const { state } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, maxAheadMs: 3_600_000, reserveMs: 60_000 }
    const one = await opened(plan)
    const [last = 0n] = await one.take(1)
    await one.kill()
    const two = await opened(plan)
    const [next = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(last)
    expect((await two.stats()).aheadMs).toBeLessThan(1000)
  })

  it('is refused in a container with the file and another memory, while the file is in use', async () => {
    const { state } = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state, maxWaitMs: 10_000, openTimeoutMs: 10_000 }
    const one = await opened(plan)
    const elsewhere = ownMemory()
    expect(await failure(opened(plan, elsewhere))).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
    const [last = 0n] = await one.take(1)
    await one.close()
    const two = await opened(plan, elsewhere)
    const [next = 0n] = await two.take(1)
    expect(next).toBeGreaterThan(last)
  })
})

describeWith(['native', 'linux', 'shim'], 'the name of a state file', () => {
  it('is on the disk before a process relies on the file, even if the maker was killed before it synced the folder', async () => {
    const disk = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state: disk.state }
    disk.order('cut')
    await expect(new Obedient(disk).open(plan)).rejects.toThrow('it ended with SIGKILL when told to open')
    expect(existsSync(disk.state)).toBe(true)
    const timesIn = (file: string) => {
      const path = join(disk.watch, file)
      return existsSync(path) ? (readFileSync(path, 'utf8').match(/^\d+/gm) ?? []).map(BigInt) : []
    }
    // The killed process has neither synced the name nor written a ceiling.
    expect([timesIn('names'), timesIn('events')]).toEqual([[], []])
    const next = await opened(plan, disk)
    await next.take(1)
    const [named = 0n] = timesIn('names')
    const [firstWrite = 0n] = timesIn('events')
    expect(named).toBeGreaterThan(0n)
    expect(named).toBeLessThanOrEqual(firstWrite)
  })

  it('is required: a file whose folder cannot be synced is not used', async () => {
    const disk = stateFolder()
    const plan: Plan = { node: 1, namespace: freshNamespace(), state: disk.state }
    const process = await opened(plan, disk)
    await process.close()
    disk.order('folder 5')
    expect(await failure(process.open(plan))).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EIO' })
    disk.order()
    await process.open(plan)
    expect(await process.take(1)).toHaveLength(1)
  })
})
