import { threads } from './threads.js'

export default threads({
  name: 'threads-roomy',
  title: 'two threads, 20-bit sequence',
  wanted: { layout: 'roomy', node: 3 },
  bars: {},
  withRivals: false,
})
