import { describe } from 'vitest'
import { engines } from '../support/engines.js'
import { proveParity } from './scripts.js'

describe.skipIf(engines.length !== 2)('both engines', () => {
  proveParity(50)
})
