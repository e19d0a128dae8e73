import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { containerSign, type Surroundings } from '../../src/host/container.js'
import { repository } from '../support/documents.ts'

/** The surroundings of a process on Debian, outside of containers. */
const host: Seen = {
  ipc: 'ipc:[4026531839]',
  mounts: [
    '25 30 0:23 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw',
    '30 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro',
    '27 30 0:25 / /dev rw,nosuid,relatime shared:2 - devtmpfs udev rw,size=8058480k,mode=755',
    '33 27 0:28 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,inode64',
  ],
}

const root = '980 871 0:301 / / rw,relatime master:381 - overlay overlay rw,lowerdir=/var/lib/docker/overlay2/l/AB'
const device = '983 980 0:305 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755,inode64'
const ownMemory = '1007 983 0:299 / /dev/shm rw,nosuid,nodev,noexec,relatime - tmpfs shm rw,size=65536k,inode64'
const hostsMemory = '1007 983 0:28 / /dev/shm rw,nosuid,nodev master:4 - tmpfs tmpfs rw,inode64'

/** The surroundings of a process in a container of Docker. */
const docker: Seen = { ipc: 'ipc:[4026532838]', mounts: [root, device, ownMemory], files: ['/.dockerenv'] }

interface Seen {
  readonly ipc?: string
  readonly mounts?: readonly string[]
  readonly files?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly folder?: string
}

function signOf({ ipc, mounts = [], files = [], variables = {}, folder = '/dev/shm' }: Seen) {
  const seen: Surroundings = {
    variable: (name) => variables[name],
    exists: (path) => files.includes(path),
    ipcNamespace: () => ipc,
    mounts: () => `${mounts.join('\n')}\n`,
    folder,
  }
  return containerSign(seen)
}

const without = (text: string) => docker.mounts?.filter((line) => line !== text) ?? []

describe('a process knows that its nodes are not shared with other containers', () => {
  it.each<[string, Seen, string]>([
    ['Docker, Podman, containerd', docker, '/dev/shm is memory of its own'],
    ['containerd without any file', { ...docker, files: [] }, '/dev/shm is memory of its own'],
    ['Docker with --shm-size', { ...docker, mounts: [root, device, ownMemory.replace('65536k', '1g')] }, '/dev/shm'],
    [
      'Docker with --ipc=none, and so without /dev/shm',
      { ...docker, mounts: without(ownMemory), folder: '/tmp' },
      'there is a file /.dockerenv',
    ],
    [
      'Podman, with a state folder in the image',
      { ...docker, files: ['/run/.containerenv'], folder: '/srv/ids' },
      'there is a file /run/.containerenv',
    ],
    [
      'Kubernetes with a volume in memory at /dev/shm',
      {
        ...docker,
        mounts: [root, device, hostsMemory],
        files: [],
        variables: { KUBERNETES_SERVICE_HOST: '10.96.0.1' },
      },
      'KUBERNETES_SERVICE_HOST is set',
    ],
    ['Kubernetes with gVisor', { variables: { KUBERNETES_SERVICE_HOST: '10.96.0.1' } }, 'KUBERNETES_SERVICE_HOST'],
    ['Amazon ECS', { ...docker, variables: { ECS_CONTAINER_METADATA_URI_V4: 'http://169.254.170.2/v4/1' } }, 'ECS_'],
    ['AWS Lambda', { ...host, variables: { AWS_LAMBDA_FUNCTION_NAME: 'orders' } }, 'AWS_LAMBDA_FUNCTION_NAME is set'],
    ['Cloud Run', { variables: { K_SERVICE: 'orders' } }, 'K_SERVICE is set'],
    ['Heroku', { variables: { DYNO: 'web.1' } }, 'DYNO is set'],
  ])('in %s', (_, seen, sign) => {
    expect(signOf(seen)).toContain(sign)
  })

  it.each<[string, Seen]>([
    ['on a host', host],
    ['on a host with OpenRC, which calls the mount shm', { ...host, mounts: [root, ownMemory] }],
    ['on a virtual machine made of an image of Docker', { ...host, files: ['/.dockerenv'], folder: '/tmp' }],
    [
      'in WSL, whose distributions have namespaces of their own',
      { ipc: 'ipc:[4026532250]', mounts: host.mounts ?? [] },
    ],
    ['in LXC and systemd-nspawn', { ...docker, mounts: [root, device, hostsMemory], files: [] }],
    ['in a sandbox of bubblewrap', { ...docker, mounts: [root, device], files: [] }],
    ['in a service of systemd with PrivateIPC=yes', { ...host, ipc: 'ipc:[4026532901]' }],
    ['in Toolbox, and with --ipc=host', { ...docker, ipc: 'ipc:[4026531839]', mounts: [root, device, hostsMemory] }],
    ["in Docker with the host's /dev/shm as a volume", { ...docker, mounts: [root, device, hostsMemory] }],
    [
      'in Docker with a state folder on a volume',
      { ...docker, mounts: [...without(ownMemory), '9 1 8:1 /v /srv/ids rw - ext4 /dev/sda1 rw'], folder: '/srv/ids' },
    ],
    ['on a system that shows no namespaces and no mounts', { files: ['/.dockerenv'] }],
  ])('and sees no sign %s', (_, seen) => {
    expect(signOf(seen)).toBeUndefined()
  })

  it('and sees no sign if it has no state folder, which the generator reports', () => {
    const seen: Surroundings = {
      variable: () => undefined,
      exists: () => true,
      ipcNamespace: () => docker.ipc,
      mounts: () => ownMemory,
      folder: undefined,
    }
    expect(containerSign(seen)).toBeUndefined()
  })

  it('uses the mount that is nearest to the folder, and the later of two at one point', () => {
    expect(signOf({ ...docker, mounts: [root, device, hostsMemory, ownMemory] })).toContain('/dev/shm')
    expect(signOf({ ...docker, mounts: [ownMemory, root, device, hostsMemory] })).toBeUndefined()
    expect(signOf({ ...docker, mounts: [root, device, ownMemory.replace('/dev/shm', '/dev/sh')] })).toBeUndefined()
  })
})

/** Runs a program as in a pod of Kubernetes, and returns the messages of its warnings about the container. */
function warningsOf(code: string, variables: Record<string, string | undefined> = {}) {
  const program = `
    import { createGenerator, nodeFromEnvironment } from 'graupel'
    import { acquireLease } from 'graupel/lease'
    import { memoryStore } from 'graupel/stores'
    import { Worker } from 'node:worker_threads'
    ${code}`
  const { NODE_ENV, NODE_TEST_CONTEXT, GRAUPEL_NODE, GRAUPEL_NODE_UNIQUE, HOSTNAME, POD_NAME, ...rest } = process.env
  const env = { ...rest, KUBERNETES_SERVICE_HOST: '10.96.0.1', ...variables }
  const words = ['--input-type=module', '-e', program]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: repository, encoding: 'utf8', env })
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' })
  return [...stderr.matchAll(/\[GRAUPEL_CONTAINER_NODE\] Warning: (.*)/g)].map(([, message]) => message)
}

describe('a generator in a container whose node was given by hand', () => {
  it('causes one warning in a process, with the sign and the remedies', () => {
    const thread = "import { createGenerator } from 'graupel'; createGenerator({ node: 9 }).next()"
    const code = `
      const thread = () => new Promise((resolve) => {
        const url = new URL('data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)}.replace('graupel', import.meta.resolve('graupel'))))
        new Worker(url).on('exit', resolve)
      })
      await Promise.all([thread(), thread()])
      createGenerator({ node: 7 }).next()
      createGenerator({ node: 8, namespace: 'orders' }).next()
      await thread()`
    const warnings = warningsOf(code)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(
      /^node [79] was given by hand in a container \(KUBERNETES_SERVICE_HOST is set\), .*lease a node \(docs\/leases\.md\).*GRAUPEL_NODE_UNIQUE=1.*docs\/nodes\.md/,
    )
  })

  it.each([
    ['GRAUPEL_NODE', 'createGenerator()', { GRAUPEL_NODE: '7' }],
    [
      'GRAUPEL_NODE beside the name of a Deployment',
      'createGenerator()',
      { GRAUPEL_NODE: '7', HOSTNAME: 'web-5d9f7c-24678' },
    ],
    ['an ordinal that another number replaces', 'createGenerator()', { GRAUPEL_NODE: '7', HOSTNAME: 'web-17' }],
  ])('causes it with %s', (_, code, variables) => {
    expect(warningsOf(code, variables)).toHaveLength(1)
  })

  it.each<[string, string, Record<string, string>?]>([
    ['with a lease', 'createGenerator({ lease: await acquireLease({ store: memoryStore() }) })'],
    ['with GRAUPEL_NODE_UNIQUE=1', 'createGenerator({ node: 7 })', { GRAUPEL_NODE_UNIQUE: '1' }],
    [
      'with the ordinal of a StatefulSet',
      "createGenerator({ node: 100 + nodeFromEnvironment({ statefulSet: 'web' }) })",
      { HOSTNAME: 'web-7' },
    ],
    ['with the label of the ordinal', 'createGenerator()', { GRAUPEL_NODE: '7', HOSTNAME: 'web-7' }],
    ['if the program says that no other process has the node', "createGenerator({ node: 7, state: 'process' })"],
    ['with a clock of its own', "createGenerator({ node: 7, clock: () => 2e12, state: 'process' })"],
    ['in a test of Jest or Vitest', 'createGenerator({ node: 7 })', { NODE_ENV: 'test' }],
    ['in a test of Node', 'createGenerator({ node: 7 })', { NODE_TEST_CONTEXT: 'child-v8' }],
  ])('causes none %s', (_, code, variables) => {
    expect(warningsOf(code, variables)).toEqual([])
  })

  it('refuses another value of GRAUPEL_NODE_UNIQUE, on a host as well', () => {
    const code = `
      import assert from 'node:assert'
      assert.throws(() => createGenerator({ node: 7 }), { code: 'ERR_OPTION_INVALID', message: /'yes'; set it to 1/ })`
    warningsOf(code, { GRAUPEL_NODE_UNIQUE: 'yes', KUBERNETES_SERVICE_HOST: undefined })
  })
})
