import { proveTerminations } from './terminations.js'

proveTerminations(55)
