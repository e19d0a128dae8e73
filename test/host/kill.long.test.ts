import { proveKills } from './kill-chain.ts'

proveKills(150, 20)
