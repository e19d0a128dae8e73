import { memory } from './memory.js'

export default memory({
  name: 'memory-one-node',
  title: '1 000 generators, one node',
  isOneNode: true,
  bars: {
    'graupel-native': [{ of: 'figure', most: 1024 }],
    'graupel-js': [{ of: 'figure', most: 1024 }],
  },
})
