import { single } from './single.js'

/**
 * A string that is never read may never have been put together: engines keep the sum of two strings as just that until
 * somebody asks for a character. So here it is written to a buffer, as a response or a log line would be.
 */
export default single({
  name: 'next-string-written',
  title: 'nextString(), written out',
  wanted: { layout: 'wide', node: 3 },
  size: 16_384,
  keep(source, size, { group }) {
    if (source.nextString === undefined || group !== 'graupel') return undefined
    const generator = /** @type {{ nextString(): string }} */ (source)
    const kept = new Array(size).fill('')
    const buffer = Buffer.alloc(64)
    const run = () => {
      for (let i = 0; i < kept.length; i++) {
        const id = generator.nextString()
        buffer.write(id, 'latin1')
        kept[i] = id
      }
    }
    return { ids: () => BigUint64Array.from(kept, BigInt), run }
  },
  bars: {},
})
