import { isShort, repetitions } from '../support/short.ts'
import { sanitizers, withoutExceptions } from './compile.js'
import { describeWith, proveBinding, proveCore, proveModels, provePages, proveStress } from './programs.js'

// All programs with and without the sanitizers, and the models, which run one thread at a time: the thread
// sanitizer has nothing to find there. core.test.ts has what is quick. The short form has the tests of
// native/core with each sanitizer; mutations.long.test.ts then runs the others.

describeWith(sanitizers.address, (proves) => {
  const effort = { fuzzIterations: repetitions(250, 10), threadRounds: repetitions(250, 10) }
  proveCore(sanitizers.address, proves)
  proveStress(sanitizers.address, proves, effort)
  if (isShort) return
  provePages(sanitizers.address, proves)
  proveModels(sanitizers.address, proves, { interleave: 1, ceiling: 0 })
  proveBinding(sanitizers.address, proves, 'releases what it has taken, whichever call of Node-API fails')
})

describeWith(sanitizers.thread, (proves) => {
  const effort = { fuzzIterations: repetitions(12, 1), threadRounds: repetitions(100, 10) }
  proveCore(sanitizers.thread, proves)
  proveStress(sanitizers.thread, proves, effort)
  if (isShort) return
  provePages(sanitizers.thread, proves)
})

if (!isShort) {
  describeWith(withoutExceptions, (proves) => {
    provePages(withoutExceptions, proves)
    proveBinding(withoutExceptions, proves, 'can be called again, whichever call of Node-API fails')
    proveModels(withoutExceptions, proves, { interleave: 2, ceiling: 1 })
  })
}
