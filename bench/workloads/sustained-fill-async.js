import { sustained } from './sustained.js'

/** The same without blocking: what a service does that has other things to answer meanwhile. */
export default sustained({
  name: 'sustained-fill-async',
  title: 'fillAsync(), sustained',
  wanted: { layout: 'twitter', node: 10 },
  keep(_, source, most) {
    if (source.fillAsync === undefined) return undefined
    const generator = /** @type {Required<typeof source>} */ (source)
    const kept = new BigUint64Array(most)
    return { kept, make: (from, to) => generator.fillAsync(kept.subarray(from, to)) }
  },
  bars: {},
})
