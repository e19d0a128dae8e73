import type { BlockCipher } from '../core/cipher.js'
import { GraupelError } from '../core/errors.js'
import { maxTimerMs } from '../core/timing.js'
import { claims } from '../host/claim.js'
import { containerSign } from '../host/container.js'
import { chosenFolder } from '../host/folder.js'
import { sleep, systemUuid, tryTo } from '../host/system.js'
import { StateTable } from '../state/table.js'
import { loadBinding } from './binary.js'
import { debugPrinter } from './debug.js'
import type { NativeLoad, Platform } from './platform.js'
import { isTestRun } from './test-run.js'
import { TracedCore } from './traced.js'

// In `dist`, core.js imports this module and this module imports core.js. So nothing of other modules is used
// while this module loads, only in functions that run later.

// Node's own modules are taken from the process when they are needed: importing them takes a quarter of the
// time that importing this package takes altogether, and node:cluster alone more than all of it.
const { getEnvironmentData, isMainThread, setEnvironmentData } = process.getBuiltinModule('node:worker_threads')

// Taken when the module is loaded, because tests replace them later: fake timers would stop the calls that
// wait. Not `performance.now`: the first use of `performance` loads eleven modules of Node.
const { setTimeout, clearTimeout, setImmediate, clearImmediate } = process.getBuiltinModule('node:timers')
const monotonicNs = process.hrtime.bigint
const wallMs = realClock()

/**
 * Under this name every worker thread, and every other copy of the package, finds the memory that the main
 * thread made.
 */
const memoryKey = 'graupel.state'
/**
 * Under this name every copy of the package in this thread finds the memory of this thread, and of the
 * workers that it starts later.
 */
const threadMemoryKey = 'graupel.thread-state'

// Environment data is copied to a worker when the worker starts. So the data is set on import, before the
// user starts a worker, and not when the first generator needs it.
function shareMemory(): void {
  if (isMainThread && getEnvironmentData(memoryKey) === undefined) setEnvironmentData(memoryKey, makeMemory())
}

/**
 * Whether `node --build-snapshot` runs this code. Node has no SharedArrayBuffer meanwhile, so that is looked
 * at first: loading node:v8 takes 0.4 ms.
 */
let isInSnapshot = typeof SharedArrayBuffer === 'undefined' && snapshot().isBuildingSnapshot()

if (isInSnapshot) {
  snapshot().addDeserializeCallback(() => {
    isInSnapshot = false
    shareMemory()
  })
} else shareMemory()

let native: NativeLoad | undefined

/** The codes of which this thread has warned. */
const warned = new Set<string>()

export const platform: Platform = {
  // An empty variable counts as unset: manifests and scripts cannot always leave a variable out.
  environmentVariable: (name) => process.env[name] || undefined,

  refuseSnapshot,

  stateMemory() {
    refuseSnapshot()
    const memory = getEnvironmentData(memoryKey)
    if (isSharedMemory(memory)) return memory
    return { unreachable: "the thread that started this worker had not imported 'graupel' by then" }
  },

  threadMemory() {
    refuseSnapshot()
    const memory = getEnvironmentData(threadMemoryKey)
    if (isSharedMemory(memory)) return memory
    const fresh = makeMemory()
    setEnvironmentData(threadMemoryKey, fresh as never)
    return fresh
  },

  get claims() {
    return claims
  },

  blockCipher,

  siblingProcesses() {
    // A worker has a channel to its primary. Without the channel, the 2 ms for loading node:cluster are
    // saved.
    const cluster =
      process.send === undefined
        ? undefined
        : (process.getBuiltinModule('node:cluster') as unknown as { isWorker: boolean })
    if (cluster?.isWorker) return 'this process is a worker of node:cluster'
    const instance = platform.environmentVariable('NODE_APP_INSTANCE')
    return instance && `NODE_APP_INSTANCE is ${instance}, so a process manager runs several of this process`
  },

  systemErrorName(error) {
    // The numbers of system errors differ on Windows.
    if (process.platform === 'win32' || error <= 0) return undefined
    return process.getBuiltinModule('node:util').getSystemErrorName(-error)
  },

  canBeCopied() {
    if (process.platform !== 'linux') return false
    const { readdirSync, readFileSync } = process.getBuiltinModule('node:fs')
    const devices = '/sys/bus/acpi/devices'
    // The ids of the driver vmgenid of Linux.
    const isCounter = (name: string) =>
      /VM_?GEN_?C(OUN)?TE?R/.test(tryTo(() => readFileSync(`${devices}/${name}/modalias`, 'latin1')) ?? '')
    return (tryTo(() => readdirSync(devices)) ?? []).some(isCounter)
  },

  atExit: (callback) => process.once('exit', callback),
  atProcessExit: (callback) => void (isMainThread && process.once('exit', callback)),

  stateFolder: () => chosenFolder() ?? '',

  absolutePath: (path) => process.getBuiltinModule('node:path').resolve(path),

  loadNative() {
    refuseSnapshot()
    native ??= loadBinding()
    return native
  },

  warn: (message, code) => process.emitWarning(message, { code }),
  warnOnce(message, code) {
    if (isTestRun() || warned.has(code)) return
    warned.add(code)
    const memory = getEnvironmentData(memoryKey)
    // A thread that cannot reach the memory of the others warns by itself, once.
    if (isSharedMemory(memory) && !new StateTable(memory).isFirst(`warning ${code}`)) return
    platform.warn(message, code)
  },
  containerSign: () => containerSign(),
  get debug() {
    return debugPrinter()
  },

  traced(core, engine, spec) {
    const print = debugPrinter()
    return print && new TracedCore(core, engine, { spec }, print)
  },

  channel: (name) => process.getBuiltinModule('node:diagnostics_channel').channel(name),

  sleep(ms) {
    sleep(ms)
    return true
  },

  wallMs,
  monotonicMs: () => Number(monotonicNs()) / 1e6,

  later(callback, ms) {
    if (ms > 0) {
      const timer = setTimeout(callback, Math.min(ms, maxTimerMs))
      return () => clearTimeout(timer)
    }
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  },

  background(callback, ms) {
    const timer = setTimeout(callback, Math.min(ms, maxTimerMs)).unref()
    return () => clearTimeout(timer)
  },

  random: Math.random,
  // Called and not passed: this module and the core import each other, so `require` loads the platform before
  // the core has exported `systemUuid`.
  systemUuid: () => systemUuid(),
  processName: () => `${process.getBuiltinModule('node:os').hostname()}/${process.pid}`,
}

/**
 * Shows the binaries to tools that copy a program together with the files that it imports. Nothing calls this
 * function, and bundlers drop it.
 */
export const tracedFiles = () => import('./binaries.cjs' as string)

/**
 * AES of Node, also for `#cipher`. The objects are kept, because making one takes four times as long as a
 * block.
 *
 * @param key - 16, 24 or 32 bytes, which are copied.
 */
export function blockCipher(key: Uint8Array): BlockCipher {
  const { createCipheriv, createDecipheriv } = process.getBuiltinModule('node:crypto')
  const name = `aes-${key.length * 8}-ecb`
  const cipher = createCipheriv(name, key, null).setAutoPadding(false)
  const decipher = createDecipheriv(name, key, null).setAutoPadding(false)
  return { encrypt: (block) => cipher.update(block), decrypt: (block) => decipher.update(block) }
}

function refuseSnapshot(): void {
  if (!isInSnapshot) return
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    'node --build-snapshot runs this program, and processes that start from the snapshot would make equal ids; call graupel in the function of v8.startupSnapshot.setDeserializeMainFunction()',
  )
}

function snapshot() {
  return process.getBuiltinModule('node:v8').startupSnapshot
}

/** Makes memory for the states. Address space that is not used costs no memory. */
function makeMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(64 * 1024, { maxByteLength: 256 * 1024 * 1024 })
}

/** A module's own copies of the language, such as those that Jest makes, each have a class of that name. */
function isSharedMemory(memory: unknown): memory is SharedArrayBuffer {
  return Object.prototype.toString.call(memory) === '[object SharedArrayBuffer]'
}

/** `Date.now`, or the `Date.now` of a fresh global object if a test has already replaced it. */
function realClock(): () => number {
  const { now } = Date
  // A bound function shows native code as well, but no name.
  if (/^function now\(\)\s*\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(now))) return now
  return process.getBuiltinModule('node:vm').runInNewContext('Date.now') as () => number
}
