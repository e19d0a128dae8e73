import { fill } from './fill.js'

/**
 * `wide` has 65 536 ids in a millisecond; filling that many takes a fraction of it, so all but the first array would wait
 * for the clock. `unbounded` lets them run ahead of it, some minutes by the end.
 */
export default fill({
  name: 'fill-65536',
  size: 65_536,
  wanted: { layout: 'wide', node: 4, unbounded: true },
  bars: {
    'graupel-native': [
      { of: 'figure', most: 0.6 },
      { of: 'ratio', most: 4 },
    ],
    'graupel-js': [{ of: 'figure', most: 2 }],
  },
})
