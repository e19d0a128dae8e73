import { repetitions } from '../support/short.ts'
import { proveCuts } from './power-cuts.ts'

proveCuts(repetitions(60, 8), repetitions(20, 5))
