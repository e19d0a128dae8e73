import { repetitions } from '../support/short.ts'
import { proveTerminations } from './terminations.js'

proveTerminations(repetitions(55, 25))
