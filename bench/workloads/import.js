import { importMs, startup } from './startup.js'

export default startup({
  name: 'import',
  title: 'import',
  probe: ({ module }) => (module === undefined ? undefined : importMs(import.meta.resolve(module))),
  bars: { 'graupel-native': [{ of: 'figure', most: 15 }], 'graupel-js': [{ of: 'figure', most: 15 }] },
})
