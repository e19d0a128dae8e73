import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// Loaded into the service by --import. It collects garbage at a signal, so the rest of the heap is in use.

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  process.stderr.write('garbage was collected\n')
})
