import { fill } from './fill.js'

export default fill({
  name: 'fill-65536',
  size: 65_536,
  node: 4,
  bars: {
    'graupel-native': [
      { of: 'figure', most: 0.6 },
      { of: 'ratio', most: 4 },
    ],
    'graupel-js': [{ of: 'figure', most: 2 }],
  },
})
