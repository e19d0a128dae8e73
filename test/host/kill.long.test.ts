import { proveKills } from './kill-chain.ts'

proveKills(100, 15)
