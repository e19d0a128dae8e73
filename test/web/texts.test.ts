import { layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { candidatesOf, likeliestOf } from '../../web/src/ids/candidates.ts'
import { readList } from '../../web/src/ids/list.ts'
import { textsOf } from '../../web/src/ids/texts.ts'

const [a, b] = ['1541815603606036480', '1541815603606036481']
const nowMs = Date.UTC(2026, 10, 22)

function listOf(text: string) {
  const work = readList(text, '', nowMs)
  for (;;) {
    const step = work.next()
    if (step.done) return { ...step.value, ids: [...step.value.ids].map(String) }
  }
}

describe('a paste', () => {
  it.each([
    ['the answer of the id service', `{"ids":["${a}","${b}"]}`, [a, b]],
    ['its answer in lines', `{\n  "ids": [\n    "${a}",\n    "${b}"\n  ]\n}\n`, [a, b]],
    [
      'an id that the service took apart',
      `{"id":"${a}","layout":"twitter","timestampMs":1656432460105,"node":378}`,
      [a],
    ],
    ['rows of a database', `[{"id":"${a}","user_id":"${b}","at":"2026-01-01","price":1234567890123456}]`, [a, b]],
    ['JSON numbers, with all digits', `{"ids":[${a}, ${b}]}`, [a, b]],
    ['an array of numbers', `[${a},${b}]`, [a, b]],
    ['JSON objects in lines', `{"id":"${a}"}\n{"id":"${b}"}`, [a, b]],
    ['a bigint of JavaScript', `${a}n`, [a]],
    ['an array of console.log', `[ ${a}n, ${b}n ]`, [a, b]],
    ['a typed array of console.log', `BigUint64Array(2) [\n  ${a}n,\n  ${b}n\n]`, [a, b]],
    ['an object of console.log', `{ id: '${a}' }`, undefined],
    ['the address of a tweet', `https://x.com/jack/status/${a}?s=20`, [a]],
    ['the address of a picture of a tweet', `https://twitter.com/jack/status/${a}/photo/1`, [a]],
    [
      'the address of a Discord message',
      `https://discord.com/channels/175928847299117063/197038439483310086/${a}`,
      [a],
    ],
    ['groups of thousands', '1,541,815,603,606,036,480', [a]],
    ['groups of thousands in lines', '1_541_815_603_606_036_480\n1 541 815 603 606 036 481', [a, b]],
  ])('has the ids of %s', (_, text, ids) => {
    const found = listOf(text)
    if (ids === undefined) expect(found.troubleCount).toBeGreaterThan(0)
    else expect(found).toMatchObject({ ids, troubleCount: 0, encoding: 'decimal' })
  })

  it.each([
    ['several short numbers', '1,200,300', ['1', '200', '300']],
    ['the bytes of an id', '[2, 113, 6, 144, 41, 192, 0, 7]', ['175929076689666055']],
    ['a list with commas', `${a},${b}`, [a, b]],
    ['texts of kinds', `ord_1asd13xh1f800, usr_1asd13xh1f801`, [a, b]],
    ['texts of kinds from the id service', `{"ids":["ord_1asd13xh1f800"]}`, [a]],
  ])('keeps the meaning of %s', (_, text, ids) => {
    expect(listOf(text).ids).toEqual(ids)
  })

  it('in JSON without ids is read as text', () => {
    expect([...textsOf('{"name":"x"}', nowMs)].length).toBeGreaterThan(0)
    expect(listOf('{"name":"x"}').ids).toEqual([])
  })

  it.each([
    [a, undefined],
    // Number(1541815603606036481n) prints these digits.
    [String(Number(1541815603606036489n)), '1541815603606036500'],
    [`${b}\n1541815603606036500`, '1541815603606036500'],
    ['1600', undefined],
    // Digits that JavaScript cannot print.
    ['1541815603606036600', undefined],
  ])('of %s is rounded by JavaScript: %s', (text, rounded) => {
    expect(listOf(text).rounded).toBe(rounded)
  })
})

describe('the likeliest layout', () => {
  const likeliest = (id: bigint): string | undefined =>
    likeliestOf(candidatesOf([id], Object.values(layouts), nowMs))?.name

  it.each([
    ['a tweet of 2022', 1541815603606036480n, 'twitter'],
    ['a Discord message of 2016', 175928847299117063n, 'discord'],
    ['a Discord user of 2015', 80351110224678912n, 'discord'],
  ])('of %s is known', (_, id, name) => {
    expect(likeliest(id)).toBe(name)
  })
})
