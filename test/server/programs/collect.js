import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into the service by --import: collects garbage when asked by a signal, so that what is left in the heap is in use.

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  process.stderr.write('garbage was collected\n')
})
