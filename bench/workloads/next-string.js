import { single } from './single.js'

export default single({
  name: 'next-string',
  title: 'nextString()',
  wanted: { layout: 'wide', node: 2 },
  // Fewer than for next(): strings are objects, and many that are alive at once would measure the collector.
  size: 16_384,
  batch(source, size) {
    if (source.nextString === undefined) return undefined
    const generator = /** @type {{ nextString(): string }} */ (source)
    const ids = new Array(size).fill('')
    const run = () => {
      for (let i = 0; i < ids.length; i++) ids[i] = generator.nextString()
    }
    return { ids, run }
  },
  bars: { 'graupel-native': [{ of: 'ratio', most: 1.6 }] },
})
