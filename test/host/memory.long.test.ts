import { repetitions } from '../support/short.ts'
import { proveReplacements } from './replaced-page.ts'

proveReplacements(repetitions(60, 12))
