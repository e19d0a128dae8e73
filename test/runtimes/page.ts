import { createGenerator, engineInfo, layouts } from 'graupel'
import { createRandomUuidGenerator, createUuidGenerator, decodeUuid } from 'graupel/uuid'
import { useClient } from './use-client.mjs'

// This program is bundled into a page. It makes a million ids one by one and a million in arrays, then UUIDs
// and ids in turns, and takes some ids of a service, on the page and in a Web Worker.

declare const document: { body: { textContent: string } }
declare const navigator: { userAgent: string }
declare const location: { origin: string }
declare const Image: new () => { src: string }
declare const Worker: new (url: string) => { onmessage: (event: { data: unknown }) => void }

// The browser prints the page once it is loaded, and loading has to wait for the asynchronous work.
new Image().src = '/gate'

const warnings: unknown[] = []
console.warn = (...values) => warnings.push(values)

const ids = createGenerator({ node: 7 })
const distinct = new Set<bigint>()
let isAscending = true
let last = 0n
for (let i = 0; i < 1_000_000; i++) {
  const id = ids.next()
  isAscending &&= id > last
  last = id
  distinct.add(id)
}
const array = new BigUint64Array(4096)
let filled = 0
for (; filled < 1_000_000; filled += array.length) {
  ids.fill(array)
  isAscending &&= (array[0] as bigint) > last
  last = array[array.length - 1] as bigint
}
const uuids = createUuidGenerator({ node: 7 })
const slots = new Set<bigint>()
let lastUuid = ''
for (let i = 0; i < 10_000; i++) {
  const uuid = uuids.next()
  isAscending &&= uuid > lastUuid
  lastUuid = uuid
  slots.add(decodeUuid(uuid, layouts.twitter).id).add(ids.next())
}
lastUuid = ''
for (const uuid of createRandomUuidGenerator().take(10_000)) {
  isAscending &&= uuid > lastUuid
  lastUuid = uuid
}
const inWorker = new Promise((resolve) => {
  new Worker('/worker.js').onmessage = ({ data }) => resolve(data)
})
const inPage = useClient(`${location.origin}/ids`).catch(String)
Promise.all([inPage, inWorker]).then((fetched) => {
  document.body.textContent = JSON.stringify({
    distinct: distinct.size,
    isAscending,
    filled,
    slots: slots.size,
    fetched,
    warnings,
    engine: engineInfo().kind,
    agent: navigator.userAgent,
  })
  return fetch('/done')
})
