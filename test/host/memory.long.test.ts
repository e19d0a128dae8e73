import { proveReplacements } from './replaced-page.ts'

proveReplacements(60)
