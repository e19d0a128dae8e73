import { proveViews } from './views.js'

proveViews({ each: 20_000, terminations: 1 })
