import { keepStrings } from '../measure/keep.js'
import { single } from './single.js'

export default single({
  name: 'next-string',
  title: 'nextString()',
  wanted: { layout: 'wide', node: 2 },
  // Fewer than for next(): strings are objects, and many that are alive at once would measure the collector.
  size: 16_384,
  keep: keepStrings,
  bars: { 'graupel-native': [{ of: 'ratio', most: 1.6 }] },
  onEveryNode: true,
})
