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
  batch(source, size) {
    if (source.nextString === undefined) return undefined
    const generator = /** @type {{ nextString(): string }} */ (source)
    const ids = new Array(size).fill('')
    const buffer = Buffer.alloc(64)
    const run = () => {
      for (let i = 0; i < ids.length; i++) {
        const id = generator.nextString()
        buffer.write(id, 'latin1')
        ids[i] = id
      }
    }
    return { ids, run }
  },
  bars: {},
})
