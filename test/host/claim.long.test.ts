import { proveClaims } from './claim-rounds.ts'

proveClaims(15)
