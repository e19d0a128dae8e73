import { importMs, startup } from './startup.js'

export default startup({
  name: 'import',
  title: 'import',
  probe: ({ url }) => (url === undefined ? undefined : importMs(url())),
  bars: { 'graupel-native': [{ of: 'figure', most: 15 }], 'graupel-js': [{ of: 'figure', most: 15 }] },
})
