import { sustained } from './sustained.js'

export default sustained({
  name: 'sustained-next',
  title: 'next(), sustained',
  wanted: { layout: 'twitter', node: 5 },
  keep(subject, source, most) {
    if (source.next === undefined) return undefined
    const generator = /** @type {{ next(): any }} */ (source)
    if (subject.isAsync) {
      const kept = new Array(most).fill('')
      const make = async (/** @type {number} */ from, /** @type {number} */ to) => {
        for (let i = from; i < to; i++) kept[i] = await generator.next()
      }
      return { kept, make }
    }
    const first = generator.next()
    const kept = typeof first === 'bigint' ? new BigUint64Array(most) : new Array(most).fill(first)
    const make = (/** @type {number} */ from, /** @type {number} */ to) => {
      for (let i = from; i < to; i++) kept[i] = generator.next()
    }
    return { kept, make }
  },
  bars: {
    'graupel-native': [{ of: 'figure', least: 99.9 }],
    'graupel-js': [{ of: 'figure', least: 99.9 }],
  },
})
