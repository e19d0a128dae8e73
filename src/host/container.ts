import { chosenFolder, posixFolder } from './folder.js'
import { tryTo } from './system.js'

// Tells whether other processes of this host may be outside of the folder of pages, because this process runs
// in a container. docs/nodes.md has the table of environments. Node's own modules are taken from the process:
// platform/node.ts says why.

/** The parts of its surroundings that a process can read: variables, files and mounts. */
export interface Surroundings {
  variable(name: string): string | undefined
  exists(path: string): boolean
  /** The link `/proc/self/ns/ipc`; `undefined` if the system does not show it. */
  ipcNamespace(): string | undefined
  /** The text of `/proc/self/mountinfo` (proc(5)). */
  mounts(): string
  /** The parent of the folder of pages; `undefined` if there is none, which a generator reports. */
  readonly folder: string | undefined
}

/** Variables of platforms that start many instances of a program with one configuration. */
const variables = [
  'KUBERNETES_SERVICE_HOST',
  'ECS_CONTAINER_METADATA_URI_V4',
  'AWS_LAMBDA_FUNCTION_NAME',
  // Knative and Google Cloud Run.
  'K_SERVICE',
  // Heroku.
  'DYNO',
]

/** Files that Docker and Podman make in each container. */
const files = ['/.dockerenv', '/run/.containerenv']

/**
 * The IPC namespace that the kernel starts with (PROC_IPC_INIT_INO in linux/proc_ns.h). Its processes share
 * the host's `/dev/shm`: processes outside of containers, `docker run --ipc=host`,
 * Toolbox. A virtual machine that was made of an image of Docker is in this namespace, and has the file of
 * Docker nevertheless.
 */
const hostNamespace = 'ipc:[4026531839]'

/**
 * Tells by which sign this process is in a container whose pages no other container has; `undefined` if there
 * is no sign.
 *
 * Not every container has a sign. The cgroup is none: with a namespace of its own a container sees `0::/`, as
 * WSL and systems without systemd do.
 */
export function containerSign(seen = surroundings()): string | undefined {
  const variable = variables.find((name) => seen.variable(name) !== undefined)
  if (variable !== undefined) return `${variable} is set`
  if (seen.ipcNamespace() === hostNamespace) return undefined
  const { folder } = seen
  if (folder === undefined) return undefined
  const { point, source } = mountOf(folder, seen.mounts())
  // The runtimes of containers give this name to the memory that they mount for one container.
  if (source === 'shm') return `${point} is memory of its own`
  // A folder on another mount may be a volume that containers share.
  const file = point === '/' ? files.find((path) => seen.exists(path)) : undefined
  return file && `there is a file ${file}`
}

function surroundings(): Surroundings {
  const { existsSync, readFileSync, readlinkSync } = process.getBuiltinModule('node:fs')
  // Deno asks the user at the terminal before it opens a file below /proc.
  const isLinux = process.platform === 'linux' && !('deno' in process.versions)
  return {
    variable: (name) => process.env[name] || undefined,
    exists: existsSync,
    ipcNamespace: () => (isLinux ? tryTo(() => readlinkSync('/proc/self/ns/ipc')) : hostNamespace),
    mounts: () => tryTo(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '',
    get folder() {
      return tryTo(() => chosenFolder() ?? posixFolder())
    },
  }
}

interface Mount {
  readonly point: string
  /** The name of the device, or any text for file systems without a device. */
  readonly source: string
}

/** Finds the mount that has a folder. A later mount at the same point hides an earlier mount. */
function mountOf(folder: string, mounts: string): Mount {
  let found: Mount = { point: '', source: '' }
  for (const line of mounts.split('\n')) {
    // 36 35 98:0 /root /point rw,noatime master:1 - type source rw
    const [before = '', after = ''] = line.split(' - ')
    const point = before.split(' ')[4] ?? ''
    const isAbove = folder === point || folder.startsWith(point.endsWith('/') ? point : `${point}/`)
    if (point !== '' && isAbove && point.length >= found.point.length) {
      found = { point, source: after.split(' ')[1] ?? '' }
    }
  }
  return found
}
