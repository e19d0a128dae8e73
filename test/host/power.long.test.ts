import { repetitions } from '../support/short.ts'
import { proveCuts } from './power-cuts.ts'

proveCuts(repetitions(60, 5), repetitions(20, 3))
