export type { LeaseHandle } from '../engine/source/handle.js'
export type { LeaseStats } from '../engine/source/lease-view.js'
export { acquireLease, type Lease } from './lease.js'
export type { LeaseOptions } from './options.js'
