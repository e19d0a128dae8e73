import { subjects } from '../subjects/index.js'

// Times everything from the import to the first id, in a process that has done nothing else.
const [name] = process.argv.slice(2)
const subject = subjects.find((subject) => subject.name === name)
const startMs = performance.now()
const source = (await subject?.load())?.({ layout: 'wide', node: 7 })
source?.next?.()
process.send?.(performance.now() - startMs)
process.disconnect?.()
