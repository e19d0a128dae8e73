import { repetitions } from '../support/short.ts'
import { proveKills } from './kill-chain.ts'

proveKills(repetitions(100, 20), repetitions(15, 5))
