import { fill } from './fill.js'

/** What a request that inserts some rows asks for. With 20 bits of sequence, so that the clock is not waited for. */
export default fill({ name: 'fill-64', size: 64, wanted: { layout: 'roomy', node: 1 }, bars: {} })
