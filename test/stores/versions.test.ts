import { expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { newVersion, tokenAt } from '../../src/stores/record.js'

it.each([
  ['the system, if it has some,', platform.systemUuid],
  ['crypto', () => undefined],
])(
  'versions and tokens by %s are UUIDs of version 4, and differ if crypto.randomUUID repeats itself, as after a startup snapshot',
  (_, systemUuid) => {
    const own = vi.spyOn(platform, 'systemUuid').mockImplementation(systemUuid as () => undefined)
    const repeated = vi.spyOn(crypto, 'randomUUID').mockReturnValue('00000000-0000-4000-8000-000000000000')
    const made = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? newVersion() : tokenAt(0).replace(/ 0$/, '')))
    repeated.mockRestore()
    own.mockRestore()
    expect(new Set(made).size).toBe(1000)
    for (const text of made) expect(text).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    // Each of the 122 random bits is set in some, and not in others. A wrong failure is as likely as 2^-990.
    const bits = made.map((text) => BigInt(`0x${text.replaceAll('-', '')}`))
    const always = bits.reduce((all, one) => all & one)
    const ever = bits.reduce((all, one) => all | one)
    expect(always).toBe(0x4000_8000_0000_0000_0000n)
    expect(ever).toBe(0xffff_ffff_ffff_4fff_bfff_ffff_ffff_ffffn)
  },
)

it('the system has no UUIDs if a sandbox has put a constant text into their file', async () => {
  vi.resetModules()
  const { systemUuid } = await import('../../src/host/system.js')
  const fs = process.getBuiltinModule('node:fs')
  const constant = vi.spyOn(fs, 'readFileSync').mockReturnValue('11111111-1111-4111-8111-111111111111\n')
  const made = systemUuid()
  constant.mockRestore()
  expect([made, systemUuid()]).toEqual([undefined, undefined])
})
