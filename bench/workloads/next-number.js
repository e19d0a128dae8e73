import { single } from './single.js'

export default single({
  name: 'next-number',
  title: 'nextNumber()',
  wanted: { layout: 'number', node: 0 },
  size: 65_536,
  batch(source, size) {
    if (source.nextNumber === undefined) return undefined
    const generator = /** @type {{ nextNumber(): number }} */ (source)
    const ids = new Float64Array(size)
    const run = () => {
      for (let i = 0; i < ids.length; i++) ids[i] = generator.nextNumber()
    }
    return { ids, run }
  },
  bars: {},
})
