import { describe } from 'vitest'
import { engines } from '../support/engines.js'
import { repetitions } from '../support/short.ts'
import { proveParity } from './scripts.js'

describe.skipIf(engines.length !== 2)('both engines', () => {
  // Half a million steps in the long form.
  proveParity(repetitions(600, 150))
})
