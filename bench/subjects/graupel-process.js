import { graupel } from './graupel.js'

/** What the word costs in the memory of the process, beside the default, which is memory that processes share. */
export default graupel('native', {
  name: 'graupel-process',
  title: "graupel native, state 'process'",
  state: () => 'process',
  only: ['next'],
})
