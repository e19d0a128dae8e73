import { expect, it } from 'vitest'
import { parseDate } from '../../src/stores/http.js'

const date = 'Tue, 14 Jul 2026 10:20:30 GMT'
const startMs = Date.UTC(2026, 6, 14, 10, 20, 30)

it.each([
  ['within its second', 400, 400],
  ['at its first millisecond', 0, 0],
  ['at its last millisecond', 999, 999],
  ['before it', -1, 0],
  ['long before it', -60_000, 0],
  ['after it', 1000, 999],
  ['long after it', 60_000, 999],
])('takes the time from a Date if the clock of the host is %s', (_, offsetMs, expectedMs) => {
  expect(parseDate(date, startMs + offsetMs)).toBe(startMs + expectedMs)
})

it.each([null, undefined, '', 'yesterday'])('refuses %o as a Date', (value) => {
  expect(() => parseDate(value)).toThrow(/has .* for its Date; a server or proxy has to send it/)
})
