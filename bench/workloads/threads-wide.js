import { threads } from './threads.js'

/**
 * The layout has a ceiling of its own here, 65.5 million ids a second: where one thread makes more than half of that, two
 * cannot make twice as many. `threads-roomy.js` is the same without it.
 */
export default threads({
  name: 'threads-wide',
  title: 'two threads, wide',
  wanted: { layout: 'wide', node: 6 },
  withRivals: true,
  bars: { 'graupel-native': [{ of: 'figure', least: 1.5 }], 'graupel-js': [{ of: 'figure', least: 1.5 }] },
})
