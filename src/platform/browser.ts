import { maxTimerMs } from '../core/timing.js'
import type { Platform } from './platform.js'
import { isTestRun } from './test-run.js'

// Browsers and edge runtimes have no native engine and no environment, and other threads cannot be seen.
// Every copy of the package on a page finds the memory under this name.
const memoryKey = /* @__PURE__ */ Symbol.for('graupel.state')

// Taken when the module is loaded, because tests replace them later, and from the global object, because a
// runtime may lack one. Bundlers drop marked calls that nothing uses, but no destructuring.
const timers = /* @__PURE__ */ (() => {
  const { setTimeout, clearTimeout, performance } = globalThis
  return { setTimeout, clearTimeout, performance }
})()
const wallMs = /* @__PURE__ */ (() => Date.now)()

/** The codes of the warnings of this thread. */
const warned = /* @__PURE__ */ new Set<string>()

const shared = /* @__PURE__ */ (() => globalThis)() as {
  [memoryKey]?: SharedArrayBuffer | ArrayBuffer
  WorkerGlobalScope?: new () => unknown
}

/** Makes memory for the states: shared if the page is isolated from other sites, otherwise private. */
function makeMemory(): SharedArrayBuffer | ArrayBuffer {
  const size = { maxByteLength: 256 * 1024 * 1024 }
  return typeof SharedArrayBuffer === 'function'
    ? new SharedArrayBuffer(64 * 1024, size)
    : new ArrayBuffer(64 * 1024, size)
}

// Not a method that names `platform`: webpack keeps an object that its own methods name.
function memory(): SharedArrayBuffer | ArrayBuffer {
  shared[memoryKey] ??= makeMemory()
  return shared[memoryKey]
}

function later(callback: () => void, ms: number): () => void {
  // Called without an object, because browsers refuse another one than the window.
  const { setTimeout, clearTimeout } = timers
  const timer = setTimeout(callback, Math.min(ms, maxTimerMs))
  return () => clearTimeout(timer)
}

export const platform: Platform = {
  environmentVariable: () => undefined,

  stateMemory: memory,
  threadMemory: memory,
  claims: undefined,
  blockCipher: undefined,

  // A page is one process of its own. A worker has siblings that it cannot see: the page, and other workers.
  siblingProcesses() {
    const isWorker = typeof shared.WorkerGlobalScope === 'function' && globalThis instanceof shared.WorkerGlobalScope
    return isWorker ? 'this is a worker, which cannot see the page that started it or the other workers' : undefined
  },

  // Only the native engine calls these.
  canBeCopied: () => false,
  systemErrorName: () => undefined,
  stateFolder: () => '',
  absolutePath: (path) => path,
  atExit: () => {},
  atProcessExit: () => {},

  loadNative: () => ({
    ok: false,
    reason: 'this build of the package, for browsers, has no native engine',
    isByDesign: true,
  }),
  warn: (message) => console.warn(message),
  warnOnce(message, code) {
    if (warned.has(code) || isTestRun()) return
    warned.add(code)
    console.warn(message)
  },
  containerSign: () => undefined,
  channel: () => undefined,
  sleep: () => false,
  wallMs,
  monotonicMs: () => timers.performance.now(),

  later,
  background: later,
  random: () => Math.random(),
  processName: () => 'browser',
}
