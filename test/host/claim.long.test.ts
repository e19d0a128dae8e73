import { repetitions } from '../support/short.ts'
import { proveClaims } from './claim-rounds.ts'

proveClaims(repetitions(15, 3))
