import fc from 'fast-check'
import { decode, defineLayout, type Layout, layouts } from 'graupel'
import { decodeUuid, idOfUuid, uuidBytes, uuidOf } from 'graupel/uuid'
import { describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { caught } from '../support/engines.js'

const layout = layouts.twitter
const keyOf = (length: number, first = 0) => Uint8Array.from({ length }, (_, i) => first + i)
const key = keyOf(32)
const id = 1541815603606036480n
const ids = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })

it('an id and its UUID give each other, and sort alike', () => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      const [first, second] = [uuidOf(one, layout), uuidOf(other, layout)]
      expect(idOfUuid(first, layout)).toBe(one)
      expect(decodeUuid(first, layout)).toEqual({ variant: 'rfc', version: 7, id: one, ...decode(one, layout) })
      const parts = (id: bigint) => {
        const { timestampMs, sequence, node } = decode(id, layout)
        return [timestampMs, sequence, node]
      }
      const [a, b] = [parts(one), parts(other)]
      const place = a.findIndex((part, i) => part !== b[i])
      expect(first < second).toBe(place >= 0 && (a[place] as number) < (b[place] as number))
    }),
  )
})

it('the UUID of an id in the last tick, which no generator uses, gives the id', () => {
  const whole = defineLayout({
    name: 'whole',
    unsigned: true,
    epochMs: Date.UTC(2024, 0),
    tickMs: 1,
    fields: [
      ['timestamp', 43],
      ['sequence', 21],
    ],
  })
  const last = 2n ** 64n - 1n
  for (const layout of [whole, layouts.mastodon] as readonly Layout[]) {
    expect(idOfUuid(uuidOf(last, layout), layout)).toBe(last)
    expect(decodeUuid(uuidOf(last, layout), layout)).toMatchObject({ id: last })
  }
})

describe('with a key', () => {
  /**
   * The last 52 bits are bits 44 to 95 of a block by OpenSSL 3: the id in 16 digits of hex, then the FNV-1a
   * of `["uuid:7",1288834974657,1,[["timestamp",41],["datacenter",5],["worker",5],["sequence",12]]]`, which
   * is 4ffdc5fbc545ad38: `printf 1565a11f6217a0004ffdc5fbc545ad38 | xxd -r -p | openssl enc -aes-128-ecb
   * -nopad -K 000102030405060708090a0b0c0d0e0f | xxd -p`
   */
  it.each<[keyBytes: number, id: bigint, block: string, uuid: string]>([
    [16, id, '687ff39976dc16138f3ece7d130a8399', '0181ab11-8149-7000-97ac-16138f3ece7d'],
    [16, 0n, 'abad22a511ae19dc5565a024444d18a2', '012c148d-03c1-7000-800e-19dc5565a024'],
    [16, 2n ** 63n - 1n, '8fc7b7ba2a0381b6f71966df1321caba', '032c148d-03c0-7fff-bff3-81b6f71966df'],
    [32, id, 'f3d3bfcb2d9b8fd4d05eaf64ed33c876', '0181ab11-8149-7000-97ab-8fd4d05eaf64'],
    [32, 0n, '18e3930040acc45cd3760536aed95d42', '012c148d-03c1-7000-800c-c45cd3760536'],
    [32, 2n ** 63n - 1n, 'b3d53404346a7c7be23e75cfd950c3f4', '032c148d-03c0-7fff-bffa-7c7be23e75cf'],
  ])('of %d bytes, the UUID of %d ends as OpenSSL encrypts it', (bytes, one, block, uuid) => {
    expect(uuid.replaceAll('-', '').slice(19)).toBe(block.slice(11, 24))
    expect(uuidOf(one, layout, { key: keyOf(bytes) })).toBe(uuid)
    expect(idOfUuid(uuid.toUpperCase(), layout, { key: keyOf(bytes) })).toBe(one)
    expect(idOfUuid(uuidBytes(uuid), layout, { key: Buffer.from(keyOf(bytes)) })).toBe(one)
  })

  it.each<[string, Layout]>([
    ['twitter', layout],
    ['sonyflake', layouts.sonyflake],
    [
      'a layout with random bits in all three words',
      defineLayout({
        name: 'small',
        epochMs: 0,
        tickMs: 1,
        fields: [
          ['timestamp', 48],
          ['worker', 4],
          ['sequence', 4],
        ],
      }),
    ],
  ])('the UUID differs in the last bits alone, and only a holder of the key makes it: %s', (_, layout) => {
    const other = keyOf(32, 1)
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 48n - 1n }), fc.nat(127), (one, bit) => {
        const uuid = uuidOf(one, layout, { key })
        expect(idOfUuid(uuid, layout, { key })).toBe(one)
        expect(decodeUuid(uuid, layout).id).toBe(one)
        const forged = uuidBytes(uuid)
        forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7))
        for (const call of [
          () => idOfUuid(forged, layout, { key }),
          () => idOfUuid(uuid, layout),
          () => idOfUuid(uuid, layout, { key: other }),
          () => idOfUuid(uuidOf(one, layout), layout, { key }),
        ]) {
          expect(caught(call)).toMatchObject({ code: 'ERR_ID_INVALID' })
        }
      }),
    )
  })

  it('two keys and two layouts in turns do not mix', () => {
    const turns = [key, keyOf(16), keyOf(32, 1)].flatMap((key) =>
      [layout as Layout, layouts.discord].map((layout) => ({ key, layout })),
    )
    const all = turns.map(({ key, layout }) => uuidOf(id, layout, { key }))
    expect(new Set(all).size).toBe(turns.length)
    for (const [i, { key, layout }] of turns.entries()) expect(uuidOf(id, layout, { key })).toBe(all[i])
  })

  it('ignores later changes of the key', () => {
    const own = Uint8Array.from(key)
    const uuid = uuidOf(id, layout, { key: own })
    own.fill(7, 1)
    expect(uuidOf(id, layout, { key: own })).not.toBe(uuid)
    expect(uuidOf(id, layout, { key })).toBe(uuid)
  })

  it.each<[string, unknown, string]>([
    ['that is missing', undefined, 'ERR_KEY_INVALID'],
    ['of text', '000102030405060708090a0b0c0d0e0f', 'ERR_KEY_INVALID'],
    ['that is short', keyOf(15), 'ERR_KEY_INVALID'],
    ['of one repeated byte', new Uint8Array(16).fill(9), 'ERR_KEY_INVALID'],
  ])('refuses a key %s', (_, key, code) => {
    expect(caught(() => uuidOf(id, layout, { key } as never))).toMatchObject({ code })
    expect(caught(() => idOfUuid(uuidOf(id, layout), layout, { key } as never))).toMatchObject({ code })
  })

  it('refuses other options, and platforms without node:crypto', () => {
    expect(caught(() => uuidOf(id, layout, { keys: key } as never))).toMatchObject({ code: 'ERR_OPTION_UNKNOWN' })
    vi.spyOn(platform, 'blockCipher', 'get').mockReturnValue(undefined)
    expect(caught(() => uuidOf(id, layout, { key: keyOf(16, 9) }))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      option: 'key',
    })
    vi.restoreAllMocks()
  })
})
