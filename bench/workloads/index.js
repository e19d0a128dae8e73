import burst from './burst.js'
import decode from './decode.js'
import encode from './encode.js'
import fill64 from './fill-64.js'
import fill65536 from './fill-65536.js'
import firstId from './first-id.js'
import importing from './import.js'
import leakClosed from './leak-closed.js'
import leakDropped from './leak-dropped.js'
import memoryNodes from './memory-nodes.js'
import memoryOneNode from './memory-one-node.js'
import next from './next.js'
import nextNumber from './next-number.js'
import nextString from './next-string.js'
import nextStringWritten from './next-string-written.js'
import processes from './processes.js'
import sustainedFillAsync from './sustained-fill-async.js'
import sustainedNext from './sustained-next.js'
import threadsLine from './threads-line.js'
import threadsRoomy from './threads-roomy.js'
import threadsWide from './threads-wide.js'

/**
 * In the order of the table.
 *
 * @type {readonly import('../contract.js').Workload[]}
 */
export const workloads = [
  next,
  burst,
  nextString,
  nextStringWritten,
  nextNumber,
  fill65536,
  fill64,
  sustainedNext,
  sustainedFillAsync,
  threadsWide,
  threadsRoomy,
  threadsLine,
  processes,
  encode,
  decode,
  importing,
  firstId,
  memoryOneNode,
  memoryNodes,
  leakClosed,
  leakDropped,
]
