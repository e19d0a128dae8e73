import { repetitions } from '../support/short.ts'
import { proveKills } from './kill-chain.ts'

proveKills(repetitions(100, 8), repetitions(15, 2))
