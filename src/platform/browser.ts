import { makeStateMemory } from '../engine/state-table.js'
import { mostTimerMs, type Platform } from './platform.js'

// Browsers and edge runtimes: no native engine, no environment, and other threads that cannot be seen. Every copy of
// the package on a page finds the memory under this name.
const memoryKey = Symbol.for('graupel.state')

// Taken when the module is loaded, because tests replace them later.
const { setTimeout, clearTimeout, performance } = globalThis
const { now: wallMs } = Date

const shared = globalThis as { [memoryKey]?: SharedArrayBuffer | ArrayBuffer; WorkerGlobalScope?: new () => unknown }

export const platform: Platform = {
  environmentVariable: () => undefined,

  stateMemory() {
    shared[memoryKey] ??= makeStateMemory()
    return shared[memoryKey]
  },

  threadMemory: () => platform.stateMemory() as SharedArrayBuffer | ArrayBuffer,
  claims: undefined,

  // A page is one process of its own. A worker has siblings that it cannot see: the page, and other workers.
  siblingProcesses() {
    const isWorker = typeof shared.WorkerGlobalScope === 'function' && globalThis instanceof shared.WorkerGlobalScope
    return isWorker ? 'this is a worker, which cannot see the page that started it or the other workers' : undefined
  },

  // For the native engine alone.
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
  channel: () => undefined,
  sleep: () => false,
  wallMs,
  monotonicMs: () => performance.now(),

  later(callback, ms) {
    const timer = setTimeout(callback, Math.min(ms, mostTimerMs))
    return () => clearTimeout(timer)
  },
}
