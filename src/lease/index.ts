export type { LeaseHandle, LeaseStats } from '../engine/source/shared-lease.js'
export type { LeaseEvent } from '../platform/events.js'
export { acquireLease, type Lease } from './lease.js'
export type { LeaseOptions } from './options.js'
