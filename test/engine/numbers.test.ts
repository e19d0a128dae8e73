import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { clockKinds, stateKinds } from '../../src/engine/native/core.js'
import { faultKinds, faultSubjects } from '../../src/engine/native/fault.js'
import { CeilingOutcome, Status, startModes } from '../../src/state/engine.js'

// The C++ headers own the numbers that cross the addon. TypeScript repeats them, because the js engine works
// without the addon.

/** Reads the members of an enumeration in a header, by their names in TypeScript. */
function membersOf(header: string, name: string): Record<string, number> {
  const text = readFileSync(new URL(`../../native/${header}`, import.meta.url), 'utf8')
  const [, body = ''] = new RegExp(`enum class ${name} : uint32_t \\{([^}]*)\\}`).exec(text) ?? []
  const members = [...body.replace(/\/\/.*/g, '').matchAll(/k(\w+) = (\d+)/g)]
  return Object.fromEntries(
    members.map(([, member = '', number]) => [member.replace(/^./, (first) => first.toLowerCase()), Number(number)]),
  )
}

it.each<[string, string, Readonly<Record<string, number>>, readonly string[]]>([
  ['core/state.h', 'Status', Status, ['moved']],
  ['core/sequence_start.h', 'Mode', startModes, []],
  ['host/durable_ceiling.h', 'Outcome', CeilingOutcome, []],
  ['host/home.h', 'StateKind', stateKinds, []],
  ['host/fault.h', 'Kind', faultKinds, ['none', 'missing', 'exists', 'moved']],
  ['host/fault.h', 'Subject', faultSubjects, []],
  ['binding/environment.h', 'ClockKind', clockKinds, []],
])('native/%s: %s has the numbers that TypeScript has', (header, name, numbers, onlyNative) => {
  const members = membersOf(header, name)
  const shared = Object.entries(members).filter(([member]) => !onlyNative.includes(member))
  expect(Object.fromEntries(shared)).toEqual(numbers)
  expect(Object.values(members)).toEqual(Object.keys(members).map((_, number) => number))
})
