import { single } from './single.js'

/**
 * `wide`, because with 4 096 ids a millisecond the fastest that `next()` can be is 244 ns. Its own ceiling is 15 ns.
 */
export default single({
  name: 'next',
  title: 'next()',
  wanted: { layout: 'wide', node: 1 },
  size: 65_536,
  batch(source, size) {
    if (source.next === undefined) return undefined
    const generator = /** @type {{ next(): bigint }} */ (source)
    if (typeof generator.next() === 'bigint') {
      const ids = new BigUint64Array(size)
      const run = () => {
        for (let i = 0; i < ids.length; i++) ids[i] = generator.next()
      }
      return { ids, run }
    }
    const ids = new Array(size).fill(generator.next())
    const run = () => {
      for (let i = 0; i < ids.length; i++) ids[i] = generator.next()
    }
    return { ids, run }
  },
  bars: {
    'graupel-native': [{ of: 'ratio', most: 0.65 }],
    'graupel-js': [{ of: 'ratio', most: 1.4 }],
  },
})
