import { sanitizers, withoutExceptions } from './compile.js'
import { describeWith, proveBinding, proveCore, proveModels, provePages, proveStress } from './programs.js'

// All programs with and without the sanitizers, and the models, which run one thread at a time: the thread
// sanitizer has nothing to find there. core.test.ts has what is quick.

describeWith(sanitizers.address, (proves) => {
  proveCore(sanitizers.address, proves)
  provePages(sanitizers.address, proves)
  proveStress(sanitizers.address, proves, { fuzzIterations: 250, threadRounds: 250 })
  proveModels(sanitizers.address, proves, { interleave: 1, ceiling: 0 })
  proveBinding(sanitizers.address, proves, 'releases what it has taken, whichever call of Node-API fails')
})

describeWith(sanitizers.thread, (proves) => {
  proveCore(sanitizers.thread, proves)
  provePages(sanitizers.thread, proves)
  proveStress(sanitizers.thread, proves, { fuzzIterations: 12, threadRounds: 100 })
})

describeWith(withoutExceptions, (proves) => {
  provePages(withoutExceptions, proves)
  proveBinding(withoutExceptions, proves, 'can be called again, whichever call of Node-API fails')
  proveModels(withoutExceptions, proves, { interleave: 2, ceiling: 1 })
})
