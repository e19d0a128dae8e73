import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { program } from '../support/cli.ts'
import { freshNamespace } from '../support/engines.ts'
import { duplicatesAmong } from '../support/ids.ts'
import { describeWith, inUserNamespace, withMounts } from '../support/needs.ts'
import { pagesOf } from '../support/pages.ts'
import { cleanUp, failure, js, native, Obedient, opened, type Plan, stateFolder } from '../support/processes.ts'

// A user has one folder of pages, although user namespaces give the user other ids.

afterEach(cleanUp)

const inside = { within: inUserNamespace }

describeWith(['native', 'linux', 'userns'], 'a process in a user namespace, and one of the same user outside,', () => {
  it.each(['host', 'file'])('share a page with state %s, and make no id twice', async (place) => {
    const { state } = stateFolder()
    const own: Plan = { node: 1, namespace: freshNamespace(), ...(place === 'file' && { state }) }
    const both = await Promise.all([opened(own, native), opened(own, { ...native, ...inside })])
    // Both processes read the true clock.
    const issued = await Promise.all(both.map((one) => one.issue({ count: 20_000, pauseMs: 0 })))
    expect(issued.map(({ error }) => error)).toEqual([undefined, undefined])
    expect(duplicatesAmong(issued.map(({ ids }) => ids))).toBe(0)
    expect(pagesOf(own.namespace ?? '')).toHaveLength(1)
  })

  it('see the same page of a state file by the command line', async () => {
    const { state } = stateFolder()
    const own: Plan = { node: 1, namespace: freshNamespace(), state }
    const both = await Promise.all([opened(own, native), opened(own, { ...native, ...inside })])
    const command = `'${process.execPath}' '${program}' state '${state}' --json`
    const pages = await Promise.all(both.map(async (one) => JSON.parse(await one.shell(command)).page))
    const [page] = pagesOf(own.namespace ?? '')
    expect(pages).toEqual([page, page])
  })
})

describeWith(['native', 'linux', 'userns'], 'a node that the js engine counts on one side of a user namespace', () => {
  it.each([
    ['js', 'outside', js, { ...js, ...inside }],
    ['js', 'inside', { ...js, ...inside }, js],
    ['native', 'outside', js, { ...native, ...inside }],
    ['native', 'inside', { ...js, ...inside }, native],
  ])('is refused to the %s engine on the other, if the first process is %s', async (_, __, one, other) => {
    const own: Plan = { node: 1, namespace: freshNamespace() }
    const first = await opened(own, one)
    const error = await failure(opened(own, other))
    expect(error).toMatchObject({ code: 'ERR_STATE_UNREACHABLE' })
    expect(error.message).toContain(`process ${first.started.child.pid}`)
  })
})

describeWith(['native', 'linux', 'mounts', 'root'], 'the folder of pages of user 1000', () => {
  it.each([
    ['1000', 'in the first namespace', '         0          0 4294967295\n'],
    ['101000', 'in a namespace that has all of its ids elsewhere', '0 100000 65536\n'],
    ['7002', 'in a namespace whose third line has the user', '0 500 1\n1 100000 997\n998 7000 3\n2000 1 1\n'],
    ['1000', 'in a namespace whose map has others only', '0 500 1000\n1001 2000 1\n'],
    ['1000', 'in a namespace without a map', ''],
  ])('is graupel-%s %s, on both engines', async (name, _, map) => {
    const { folder } = stateFolder()
    const chosen = join(folder, 'chosen')
    mkdirSync(chosen)
    chmodSync(chosen, 0o1777)
    // mkdtemp makes a folder that user 1000 may not open.
    chmodSync(join(folder, '..'), 0o755)
    writeFileSync(join(folder, 'map'), map)
    const within = (command: readonly string[]) => withMounts(`mount --bind ${folder}/map /proc/$$/uid_map`, command)
    for (const [engine, ending] of [
      [native, '.page'],
      [js, '.claim'],
    ] as const) {
      const process = new Obedient({ env: { ...engine.env, GRAUPEL_STATE_FOLDER: chosen }, within })
      // The engine is loaded while the process may read its files.
      await process.open({ node: 2, namespace: freshNamespace(), state: 'process' })
      await process.actAs(1000)
      await process.open({ node: 1, namespace: freshNamespace() })
      expect(readdirSync(chosen)).toEqual([`graupel-${name}`])
      expect(readdirSync(join(chosen, `graupel-${name}`)).filter((file) => file.endsWith(ending))).toHaveLength(1)
    }
  })
})
