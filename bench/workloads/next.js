import { keepNext } from '../measure/keep.js'
import { single } from './single.js'

/**
 * `wide`, because with 4 096 ids a millisecond the fastest that `next()` can be is 244 ns. Its own ceiling is 15 ns.
 * Rivals have 12 bits of sequence: what is faster than 244 ns here makes repeats. `burst.js` stays below that.
 */
export default single({
  name: 'next',
  title: 'next()',
  wanted: { layout: 'wide', node: 1 },
  size: 65_536,
  keep: (source, size, subject) => keepNext(subject, source, size),
  bars: {
    'graupel-native': [
      { of: 'ratio', most: 0.65 },
      { of: 'lead', least: 2.5 },
    ],
    'graupel-js': [{ of: 'ratio', most: 1.4 }],
  },
  onEveryNode: true,
})
