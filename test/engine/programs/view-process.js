// Makes ids by views in a process: `node view-process.js COUNT OPTIONS`, with the options in JSON. Begins if
// the first byte arrives at the standard input, and writes the ids to the standard output.
import { once } from 'node:events'
import { createGenerator } from 'graupel'
import { layout, makeIds, recorder } from './view-maker.js'

const [, , count = '', options = ''] = process.argv
const generator = createGenerator({ .../** @type {{ engine: 'native' | 'js' }} */ (JSON.parse(options)), layout })
const made = new BigUint64Array(Number(count))
process.stderr.write('open')
await once(process.stdin, 'data')
await makeIds(generator, recorder(made))
process.stdout.write(new Uint8Array(made.buffer))
process.stdin.destroy()
