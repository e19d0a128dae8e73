import { layouts } from 'graupel'
import { decodeUuid, idOfUuid, isUuid, parseUuid, uuidAt, uuidBytes } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

// The examples of RFC 9562, appendix A, and of RFC 4122 for version 1.
it.each<[string, object]>([
  ['C232AB00-9414-11EC-B3C8-9F6BDECED846', { version: 1, timestampMs: Date.UTC(2022, 1, 22, 19, 22, 22) }],
  ['1EC9414C-232A-6B00-B3C8-9F6BDECED846', { version: 6, timestampMs: Date.UTC(2022, 1, 22, 19, 22, 22) }],
  ['017F22E2-79B0-7CC3-98C4-DC0C0C07398F', { version: 7, timestampMs: Date.UTC(2022, 1, 22, 19, 22, 22) }],
  ['5df41881-3aed-3515-88a7-2f4a814cf09e', { version: 3, variant: 'rfc' }],
  ['919108f7-52d1-4320-9bac-f847db4148a8', { version: 4, variant: 'rfc' }],
  ['2489E9AD-2EE2-8E00-8EC9-32D5F69181C0', { version: 8, variant: 'rfc' }],
  ['00000000-0000-0000-0000-000000000000', { variant: 'ncs' }],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', { variant: 'future' }],
  ['6a7bca2f-7c2e-1000-c000-000000000000', { variant: 'microsoft' }],
])('%s is decoded', (text, parts) => {
  const decoded = decodeUuid(text)
  expect(decoded).toMatchObject(parts)
  expect(Object.keys(decoded).sort()).toEqual(expectedKeys(parts))
  expect(decodeUuid(uuidBytes(text))).toEqual(decoded)
})

function expectedKeys(parts: object): string[] {
  const own = 'timestampMs' in parts ? ['timestamp', 'timestampMs', 'variant', 'version'] : ['variant', 'version']
  return 'version' in parts ? own : ['variant']
}

describe('a text', () => {
  const text = '019a8f2e-6b1c-7000-8070-abcdef012345'

  it('is read in either case, with braces, and from bytes', () => {
    for (const one of [text, text.toUpperCase(), `{${text}}`, uuidBytes(text), Buffer.from(uuidBytes(text))]) {
      expect(parseUuid(one)).toBe(text)
    }
    expect(isUuid(text.toUpperCase())).toBe(true)
  })

  it.each([
    [`{${text}`],
    [text.replaceAll('-', '')],
    [`${text} `],
    [`urn:uuid:${text}`],
    [text.replace('a', 'g')],
    [text.slice(1)],
    [''],
    [7],
    [null],
    [new Uint8Array(15)],
    [new Uint16Array(16)],
  ])('%s is refused', (one) => {
    expect(isUuid(one)).toBe(false)
    expect(caught(() => parseUuid(one as string))).toMatchObject({ code: 'ERR_ID_INVALID' })
    expect(caught(() => decodeUuid(one as string))).toMatchObject({ code: 'ERR_ID_INVALID' })
  })
})

it.each<[string, () => unknown]>([
  ['random bits', () => idOfUuid('0181ab11-8149-7000-97a0-000000000001', layouts.twitter)],
  ['version 8', () => idOfUuid('0181ab11-8149-8000-97a0-000000000000', layouts.twitter)],
  ['version 4', () => decodeUuid('919108f7-52d1-4320-9bac-f847db4148a8', layouts.twitter)],
  ['another variant', () => decodeUuid('017f22e2-79b0-7cc3-18c4-dc0c0c07398f', layouts.twitter)],
  ['a time before the epoch', () => decodeUuid(uuidAt(0), layouts.twitter)],
  ['a time behind the last tick', () => decodeUuid(uuidAt(2 ** 48 - 1), layouts.twitter)],
  ['a time in the middle of a tick', () => decodeUuid(uuidAt(layouts.sonyflake.epochMs + 5), layouts.sonyflake)],
  ['a time before 1970', () => uuidAt(-1)],
  ['a time behind 48 bits', () => uuidAt(2 ** 48)],
  ['an invalid date', () => uuidAt(new Date(Number.NaN))],
  ['a text as time', () => uuidAt('2026-01-01' as never)],
])('refuses a UUID with %s', (_, call) => {
  expect(caught(call)).toMatchObject({ code: 'ERR_ID_INVALID' })
})

it('uuidAt is the least UUID of a millisecond', () => {
  const ms = Date.UTC(2026, 5, 1)
  expect(uuidAt(ms)).toBe(uuidAt(new Date(ms)))
  expect(uuidAt(ms)).toBe(uuidAt(ms + 0.9))
  expect(decodeUuid(uuidAt(ms)).timestampMs).toBe(ms)
  expect(uuidAt(ms) <= uuidAt(ms).replace(/.$/, '1')).toBe(true)
  expect(uuidAt(ms) > uuidAt(ms - 1).replaceAll(/7000-8000-0{12}/g, '7fff-bfff-ffffffffffff')).toBe(true)
})
