import fill from './fill.js'
import firstId from './first-id.js'
import importing from './import.js'
import leakClosed from './leak-closed.js'
import leakDropped from './leak-dropped.js'
import memory from './memory.js'
import next from './next.js'
import nextNumber from './next-number.js'
import nextString from './next-string.js'
import nextStringWritten from './next-string-written.js'
import sustained from './sustained.js'
import threadsRoomy from './threads-roomy.js'
import threadsWide from './threads-wide.js'

/**
 * In the order of the table.
 *
 * @type {readonly import('../contract.js').Workload[]}
 */
export const workloads = [
  next,
  nextString,
  nextStringWritten,
  nextNumber,
  fill,
  sustained,
  threadsWide,
  threadsRoomy,
  importing,
  firstId,
  memory,
  leakClosed,
  leakDropped,
]
