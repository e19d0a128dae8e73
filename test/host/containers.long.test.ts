import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { engines } from '../support/engines.js'
import { describeWith, withMounts } from '../support/needs.ts'

/** Makes an id of node 7 as a service does. */
const program = `
  import { createGenerator } from 'graupel'
  createGenerator({ node: 7, namespace: 'containers' }).next()`

/** The memory that runtimes of containers mount (runtime-spec of OCI, config.md). */
const ownMemory = 'mount -t tmpfs -o size=65536k shm /dev/shm'

/** Whether a process warns that another container may have its node. */
function isWarned(engine: string, within: (command: readonly string[]) => string[], folder?: string): boolean {
  const { NODE_ENV, GRAUPEL_NODE_UNIQUE, ...rest } = process.env
  const env = { ...rest, GRAUPEL_ENGINE: engine, ...(folder !== undefined && { GRAUPEL_STATE_FOLDER: folder }) }
  const [command = '', ...words] = within([process.execPath, '--input-type=module', '-e', program])
  const { status, stderr } = spawnSync(command, words, { cwd: repository, encoding: 'utf8', env })
  expect(status, stderr).toBe(0)
  return stderr.includes('GRAUPEL_CONTAINER_NODE')
}

const inNamespaces = (script: string) => (command: readonly string[]) => [
  'unshare',
  '--ipc',
  '--pid',
  '--fork',
  ...withMounts(script, command),
]

const onHost = () =>
  readlinkSync('/proc/self/ns/ipc') === 'ipc:[4026531839]' ? undefined : 'IPC namespace of the host'

describeWith(['linux', 'mounts', 'root', onHost], 'a process in real namespaces, with a node given by hand,', () => {
  it.each(engines)('is warned on the %s engine if its /dev/shm is that of a container', (engine) => {
    expect(isWarned(engine, inNamespaces(`${ownMemory}; mount -t proc proc /proc`), '/dev/shm')).toBe(true)
  })

  it.each([
    ['in no namespace', (command: readonly string[]) => [...command]],
    ["in namespaces of its own, with the host's /dev/shm", inNamespaces('true')],
    ["in the host's IPC namespace, as with --ipc=host", (command: readonly string[]) => withMounts('true', command)],
  ])('is not warned %s', (_, within) => {
    for (const engine of engines) expect(isWarned(engine, within)).toBe(false)
  })
})
