import { proveKills } from './kill-chain.ts'

proveKills(250, 30)
