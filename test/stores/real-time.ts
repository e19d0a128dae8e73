import { platform } from '#platform'
import { StoreCalls } from '../../src/stores/calls.js'
import type { Store } from '../../src/stores/store.js'

/** Makes the calls of a store on the clock of this machine. */
export function callsOf(store: Store, callTimeoutMs = 2000): StoreCalls {
  return new StoreCalls(store, platform, callTimeoutMs)
}
