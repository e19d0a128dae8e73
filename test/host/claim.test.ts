import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { pagesFolder } from '../../src/host/folder.js'
import { layouts } from '../../src/layout/presets.js'
import { program as cli } from '../support/cli.ts'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong, expectAscending, expectRefusedAt, total } from '../support/ids.ts'
import { describeWith, libfaketime } from '../support/needs.ts'
import { claimsOf, pagesOf } from '../support/pages.ts'
import {
  cleanUp,
  failure,
  js,
  memoryOf,
  native,
  Obedient,
  opened,
  ownMemory,
  type Plan,
  type Surroundings,
  start,
  stateFolder,
} from '../support/processes.ts'
import { recordsOf } from '../support/records.ts'
import { stopProcess } from '../support/stop-process.ts'
import { until } from '../support/until.ts'
import { proveClaims } from './claim-rounds.ts'

// Without a binary, a process keeps its node by a claim in the folder of the pages.

afterEach(cleanUp)

const plan = (): Plan => ({ node: 7, namespace: freshNamespace() })
const pidOf = (process: Obedient) => process.started.child.pid

/** Returns the time of the highest ceiling in the texts of links. */
function ceilingMsIn(links: string): number {
  const ceilings = Array.from(links.matchAll(/"ceiling":"(\d+)"/g), ([, slot]) => Number(BigInt(slot as string) >> 12n))
  return layouts.twitter.epochMs + Math.max(...ceilings)
}

proveClaims(1)

describe('a node that the js engine counts', () => {
  it('is refused to a second process with the owner and a remedy', async () => {
    const own = plan()
    const first = await opened(own, js)
    expect(await first.stats()).toMatchObject({ engine: 'js', state: 'host' })
    const error = await failure(opened(own, js))
    expect(error.code).toBe('ERR_STATE_UNREACHABLE')
    for (const part of [`process ${pidOf(first)}`, 'native engine', 'a node of its own']) {
      expect(error.message).toContain(part)
    }
  })

  it('goes to the next process as soon as it is closed, and ids go on', async () => {
    const own = plan()
    const first = await opened(own, js)
    const before = await first.take(5000)
    await first.close()
    // A call of the closed generator must not take the node again.
    expect((await first.issue({ count: 1 })).error).toMatchObject({ code: 'ERR_CLOSED' })
    const second = await opened(own, js)
    const after = await second.take(5000)
    expectAscending(before, after)
    expect(await failure(first.open(own))).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
  })

  it('goes to the next process as soon as its process has ended or was killed', async () => {
    const own = plan()
    const parts: bigint[][] = []
    for (const end of ['kill', 'exit', 'kill', 'exit'] as const) {
      const process = await opened(own, js)
      parts.push(await process.take(10_000))
      await process[end]()
      await process.started.ended
    }
    expectAscending(...parts)
  })

  it('stays with a process that is stopped', async () => {
    const own = plan()
    const first = await opened(own, js)
    const before = await first.take(10)
    await stopProcess(first.started.child.pid as number)
    expect(await failure(opened(own, js))).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
    first.started.child.kill('SIGCONT')
    expectAscending(before, await first.take(10))
  })

  it('may be used by other processes that say that their ids never meet', async () => {
    const own = plan()
    await opened(own, js)
    const second = await opened({ ...own, state: 'process' }, js)
    expect(await second.take(10)).toHaveLength(10)
  })

  it('is shared by all threads of its process', async () => {
    const { folder } = stateFolder()
    const file = join(folder, 'record')
    const started = start('record.js', { plan: plan(), file, threads: 4, count: 40_000 }, js)
    // The main thread of that program imports graupel before it starts the workers.
    expect(await started.ended).toMatchObject({ code: 0 })
    const records = recordsOf(file)
    expect(total(records)).toBe(160_000)
    expect(duplicatesAmong(records)).toBe(0)
  })

  it('leaves only its latest link and the link before in its folder', async () => {
    const own = plan()
    const first = await opened(own, js)
    const [claim = ''] = claimsOf(own.namespace ?? '')
    const links = () =>
      readdirSync(claim)
        .map((name) => Number.parseInt(name, 10))
        .sort((a, b) => a - b)
    const [begin = 0] = links()
    // Each link is half a second.
    await until(async () => {
      await first.issue({ count: 20 })
      return (links().at(-1) ?? 0) >= begin + 3
    })
    const [earlier = 0, ...latest] = links()
    expect(latest).toEqual([earlier + 1])
  })
})

describeWith(['native'], 'a node that one engine counts', () => {
  it.each([
    ['js', js, native],
    ['native', native, js],
  ])('%s goes to a process with the other engine when the first has ended, and back', async (_, one, other) => {
    const own = plan()
    const first = await opened(own, one)
    const before = await first.take(5000)
    const second = new Obedient(other)
    const error = await failure(second.open(own))
    expect(error.code).toBe('ERR_STATE_UNREACHABLE')
    expect(error.message).toContain(`process ${pidOf(first)}`)
    await first.exit()
    await first.started.ended
    await second.open(own)
    const after = await second.take(5000)
    await second.exit()
    await second.started.ended
    const third = await opened(own, one)
    expectAscending(before, after, await third.take(5000))
  })

  it('is refused to the js engine when a native process was killed, until its page is forgotten', async () => {
    const own = plan()
    const first = await opened(own, native)
    const before = await first.take(5000)
    await first.kill()
    const second = new Obedient(js)
    const error = await failure(second.open(own))
    const [page = ''] = pagesOf(own.namespace ?? '')
    expect(error.code).toBe('ERR_STATE_UNREACHABLE')
    expect(error.message).toContain(`process ${pidOf(first)} used this node`)
    expect(error.message).toContain(`'graupel state ${page} --clean'`)
    execFileSync(process.execPath, [cli, 'state', page, '--clean'])
    await second.open(own)
    expectAscending(before, await second.take(5000))
    // Processes of the native engine can use the page at once.
    await second.kill()
    expectAscending(before, await (await opened(own, native)).take(5000))
  })
})

describeWith(['linux', 'faketime'], 'a node of the js engine whose process was killed', () => {
  it('is not counted again with the clock set back', async () => {
    const own = plan()
    const clock = (step: string): Surroundings => ({
      env: { ...js.env, LD_PRELOAD: libfaketime() ?? '', FAKETIME: step, FAKETIME_DONT_FAKE_MONOTONIC: '1' },
    })
    const first = await opened(own, clock('+0'))
    const before = await first.take(10_000)
    await first.kill()
    const second = await opened({ ...own, maxAheadMs: 10_000 }, clock('-5'))
    expect(await second.nowMs()).toBeLessThan(Date.now() - 4000)
    const after = await second.take(10_000)
    expectAscending(before, after)
    await second.kill()
    const third = await opened({ ...own, onRollback: 'throw' }, clock('-3600'))
    expect(await failure(third.take(1))).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK' })
  })
})

describeWith(['linux', 'mounts', 'root'], 'a node of the js engine in another container', () => {
  it('is refused while it is in use, and given away when its ceiling has passed', async () => {
    const elsewhere: Surroundings = {
      ...js,
      within: (command) => ['unshare', '--pid', '--fork', '--kill-child', ...command],
    }
    const second = new Obedient(js)
    await second.shell('true')
    const contend = async () => {
      const own = plan()
      const first = await opened(own, elsewhere)
      const before = await first.take(10)
      const error = await second.open(own).catch((error) => error)
      return { own, first, before, error }
    }
    // The claim lasts for half a second, which is over on a busy machine before the second process comes.
    let contended = await contend()
    while (contended.error === undefined) contended = await contend()
    const { own, first, before, error } = contended
    expect(error).toMatchObject({
      code: 'ERR_STATE_UNREACHABLE',
      message: expect.stringMatching(/of another container; .* delete .*\.claim/),
    })
    await until(() =>
      second.open(own).then(
        () => true,
        () => false,
      ),
    )
    expectAscending(before, await second.take(10))
    // The former holder notices the loss before it makes an id.
    expect(await failure(first.take(1))).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
  })
})

describeWith(['linux', 'mounts'], 'without a folder for claims', () => {
  const onJs = ({ env, ...rest }: Surroundings) => new Obedient({ ...rest, env: { ...env, ...js.env } })
  const inMemory = (script: string) => onJs(ownMemory(script))

  it('because it is read-only, the js engine opens only state process, and says so', async () => {
    const process = inMemory('mount -o remount,ro /dev/shm')
    const error = await failure(process.open(plan()))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EROFS' })
    expect(error.message).toContain('set GRAUPEL_STATE_FOLDER to a folder that exists and can be written')
    await process.open({ ...plan(), state: 'process' })
    expect(await process.take(3)).toHaveLength(3)
  })

  it.each([
    ['lets others in', 'mkdir -m 755 $pages', /the folder .* is open to other users by its mode 0755/],
    ['is a symbolic link', 'mkdir -m 700 /dev/shm/real; ln -s /dev/shm/real $pages', /a symbolic link/],
    ['is a file', 'touch $pages', /not a folder/],
  ])('as it %s, it is refused', async (_, script, message) => {
    const error = await failure(inMemory(`pages=/dev/shm/${basename(pagesFolder())}; ${script}`).open(plan()))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNSAFE', message: expect.stringMatching(message) })
  })

  it('because it becomes read-only, ids are made up to the ceiling, and again when it can be written', async () => {
    const process = inMemory('')
    await process.open(plan())
    const before = await process.issue({ count: 20 })
    await process.shell('mount -o remount,ro /dev/shm')
    const links = await process.shell('cat /dev/shm/graupel-*/*.claim/*')
    const during = await process.issueUntilRefused()
    expect(during.error).toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', causeCode: 'EROFS' })
    expectRefusedAt(ceilingMsIn(links), during)
    await process.shell('mount -o remount,rw /dev/shm')
    const after = await process.issue({ count: 20 })
    expect(after.error).toBeUndefined()
    expectAscending([...before.ids, ...during.ids, ...after.ids])
  })

  it('because it is damaged, a claim is not begun again', async () => {
    const own = plan()
    const first = inMemory('')
    await first.open(own)
    await first.shell('cd /dev/shm/graupel-*/*.claim; echo nonsense > $(ls)')
    const second = onJs(memoryOf(first))
    expect(await failure(second.open(own))).toMatchObject({ code: 'ERR_STATE_CORRUPT' })
  })
})

describeWith(['linux', 'root'], 'a node of the js engine whose process has given up its rights', () => {
  it('is counted up to its ceiling, and then refused with the reason', async () => {
    const own = plan()
    const process = await opened(own, js)
    await process.take(3)
    await process.becomeUser(65_534)
    const [claim = ''] = claimsOf(own.namespace ?? '')
    const links = readdirSync(claim).map((name) => readFileSync(join(claim, name), 'utf8'))
    const refused = await process.issueUntilRefused()
    expectRefusedAt(ceilingMsIn(links.join()), refused)
    expect(refused.error).toMatchObject({
      code: 'ERR_STATE_UNAVAILABLE',
      message: expect.stringMatching(/belongs to user 0, .* for user 65534, .*; create generators after/),
    })
  })
})
