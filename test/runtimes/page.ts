import { createGenerator, engineInfo } from 'graupel'

// Bundled into a page: a million ids one by one, a million in arrays.

declare const document: { body: { textContent: string } }
declare const navigator: { userAgent: string }

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
document.body.textContent = JSON.stringify({
  distinct: distinct.size,
  isAscending,
  filled,
  warnings,
  engine: engineInfo().kind,
  agent: navigator.userAgent,
})
