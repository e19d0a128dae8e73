import { fill } from './fill.js'

/** What a request that inserts some rows asks for. */
export default fill({ name: 'fill-64', size: 64, node: 9, bars: {} })
