import { layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { withText } from '../../scripts/how-it-works.ts'
import { read } from '../support/documents.ts'

const document = read('docs/how-it-works.md')
const [, mistakes = ''] = document.split('## Known mistakes')
const years = (ms: number) => (ms / (365.2425 * 86_400_000)).toFixed(1)
const grouped = (number: number) => number.toLocaleString('en').replaceAll(',', ' ')

/** The probability that two of some hosts have one of 1024 numbers, if each takes a number at random. */
function collision(hosts: number): string {
  let distinct = 1
  for (let i = 0; i < hosts; i++) distinct *= 1 - i / 1024
  return ((1 - distinct) * 100).toPrecision(2)
}

describe('docs/how-it-works.md', () => {
  it('has the text of the page', () => {
    expect(withText(document), 'run npm run docs').toBe(document)
    expect(document.length).toBeGreaterThan(15_000)
  })

  it.each([
    ['2^41 ms in years', `2^41 ms are ${years(2 ** 41)} years`],
    ['2^42 ms in years of 365 days', `41 bits last ${(2 ** 42 / (365 * 86_400_000)).toFixed(1)} years`],
    ['2^41', `2^41 = ${grouped(2 ** 41)} ≈ ${(2 ** 41 / 1e12).toFixed(1)} × 10^12`],
    ['the ids of all nodes', `${grouped(2 ** 12)} ids a millisecond on one node, ${grouped(2 ** 22)} on all`],
    ['the same in units of 10 000', `is ${Math.floor(2 ** 22 / 10_000)} W`],
    ['the end of the default layout', `${layouts.twitter.expiresAt.toISOString().slice(0, 10)}, by`],
    ['the end of 41 bits since 1970', `ids until ${new Date(2 ** 41).toISOString().slice(0, 10)}`],
    ['a product of floats', `\`1.001 * 1000\` is ${1.001 * 1000}`],
    ['a rounded id', `1541815603606036481 becomes ${Number('1541815603606036481')}`],
    ['the birthday problem', `two of 10 hosts have the same of 1 024 numbers with ${collision(10)} %`],
    ['the birthday problem at a half', `two of 38 hosts with ${collision(38)} %`],
    ['the overflow of 31', `Host ${32} gets the number of host ${32 & 31}`],
  ])('says of %s what is computed', (_, text) => {
    expect(mistakes).toContain(text)
  })

  it('names the mistakes, each with a reason and a right line', () => {
    const rows = [...mistakes.matchAll(/^\| (?!mistake|-)(.+) \| (.+) \| (.+) \|$/gm)]
    expect(rows.length).toBe(14)
  })
})
