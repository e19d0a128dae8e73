import { memory } from './memory.js'

/** Each node has a word of its own, in memory that is kept for as long as the process lives. */
export default memory({ name: 'memory-nodes', title: '1 000 generators, 1 000 nodes', isOneNode: false, bars: {} })
