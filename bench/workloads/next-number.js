import { single } from './single.js'

export default single({
  name: 'next-number',
  title: 'nextNumber()',
  wanted: { layout: 'number', node: 0 },
  size: 65_536,
  keep(source, size) {
    if (source.nextNumber === undefined) return undefined
    const generator = /** @type {{ nextNumber(): number }} */ (source)
    const kept = new Float64Array(size)
    const run = () => {
      for (let i = 0; i < kept.length; i++) kept[i] = generator.nextNumber()
    }
    return { ids: () => BigUint64Array.from(/** @type {any} */ (kept), BigInt), run }
  },
  bars: {},
})
