import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createGenerator, defineLayout, defineSerial } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'

const pattern = '001{yyyyMMddHHmmssSSS}{sequence:3}'
const payments = defineLayout({
  name: 'payments',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['sequence', 9],
  ],
})

describe('business 3, yyyyMMddHHmmssSSS, sequence 3', () => {
  const serial = defineSerial({ pattern, layout: payments, timeZone: '+08:00' })
  const start = Date.UTC(2026, 10, 22, 10, 0)
  const simulated = (onOverflow: 'advance' | 'throw') => {
    return createGenerator({ layout: payments, node: 0, clock: () => start, onOverflow, namespace: freshNamespace() })
  }

  it('has 23 digits, which sort like the ids', () => {
    expect(serial).toMatchObject({ length: 23, sortable: true })
  })

  it('counts from 000 to 511 in a millisecond, and goes on in the next millisecond', () => {
    const texts = simulated('advance').take(514).map(serial.format)
    expect([texts[0], texts[511], texts[512], texts[513]]).toEqual([
      '00120261122180000000000',
      '00120261122180000000511',
      '00120261122180000001000',
      '00120261122180000001001',
    ])
    expect(new Set(texts).size).toBe(514)
    expect(texts.toSorted()).toEqual(texts)
  })

  it("is refused by the generator after 512 ids if the policy is 'throw'", () => {
    const ids = simulated('throw')
    ids.take(512)
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW' })
  })

  it('is read back', () => {
    const ids = simulated('advance').take(1000)
    expect(ids.map(serial.format).map(serial.parse)).toEqual(ids)
    for (const text of ['00120261122180000000512', '00120261122180000000999']) {
      expect(caught(() => serial.parse(text)).message).toContain('for {sequence}, which is at most 511')
    }
    expect(caught(() => serial.parse('00220261122180000000000')).message).toContain("in place of '001'")
  })

  it('does not fit 10 bits, which count to 1023', () => {
    const layout = defineLayout({
      ...payments,
      fields: [
        ['timestamp', 41],
        ['sequence', 10],
      ],
    })
    expect(caught(() => defineSerial({ pattern, layout }))).toMatchObject({
      code: 'ERR_PATTERN_INVALID',
      message: expect.stringContaining('{sequence:3} has too few digits: 1023'),
    })
  })

  it('holds for the real clock and both engines', () => {
    for (const engine of engines) {
      const ids = createGenerator({ layout: payments, node: 0, state: 'process', namespace: freshNamespace(), engine })
      const made = ids.take(3000)
      const texts = made.map(serial.format)
      expect(new Set(texts).size).toBe(3000)
      expect(texts.toSorted()).toEqual(texts)
      expect(texts.map(serial.parse)).toEqual(made)
    }
  })
})

describe('examples/payment-serial.mjs', () => {
  it('prints three numbers in order, and their parts', () => {
    const file = fileURLToPath(new URL('../../examples/payment-serial.mjs', import.meta.url))
    const env = { ...process.env, GRAUPEL_NODE: '7' }
    const lines = execFileSync(process.execPath, [file], { encoding: 'utf8', env }).trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines.toSorted()).toEqual(lines)
    for (const line of lines)
      expect(line).toMatch(/^001[0-9]{17}07[0-9]{3} {2}[0-9T:.-]{23}Z, node 7, sequence [0-9]+$/)
  })
})
