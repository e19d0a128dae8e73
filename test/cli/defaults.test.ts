import { describe, expect, it } from 'vitest'
import type { Manual } from '../../src/cli/arguments.js'
import { composeManual } from '../../src/cli/compose.js'
import { convertManual } from '../../src/cli/convert.js'
import { inspectManual } from '../../src/cli/inspect.js'
import { nextManual } from '../../src/cli/next.js'
import { serialManual } from '../../src/cli/serial.js'
import { sqlManual } from '../../src/cli/sql.js'
import { graupel, spawnGraupel } from '../support/cli.js'
import { documentedDefaults } from '../support/defaults.js'

// The defaults that the help of each command names, in parentheses at the end.

/** The flags of a command whose help names a default, without those that need another flag. */
function defaultsOf({ flags }: Manual, left: readonly string[] = []): [flag: string, value: string][] {
  return Object.entries(flags).flatMap(([flag, { help }]) => {
    const [, value] = /\(([^()]+)\)$/.exec(help) ?? []
    return value === undefined || left.includes(flag) ? [] : [[flag, value]]
  })
}

const id = '1541815603606036480'

/** Commands whose output is the same in each run. */
const commands: [Manual, words: string[], left?: string[]][] = [
  [composeManual, ['--time', '2026-11-01']],
  [convertManual, [id, '--to', 'hex']],
  // With a mask only.
  [inspectManual, [id, '--layout', 'twitter'], ['mask-bits']],
  [serialManual, ['--pattern', '001{yyyyMMddHHmmssSSS}{node}{sequence}', id]],
  [sqlManual, ['--dialect', 'postgres']],
]

describe.each(commands.map(([manual, ...rest]) => [manual.name, manual, ...rest] as const))(
  '%s',
  (_, manual, words, left) => {
    const found = defaultsOf(manual, left)

    it('has defaults', () => {
      expect(found.length).toBeGreaterThan(0)
    })

    it.each(found)('--%s %s is the default', async (flag, shown) => {
      const [value = ''] = shown.split(';')
      const without = await graupel([manual.name, ...words])
      expect(without).toMatchObject({ status: 0, stderr: '' })
      const given = words.includes(`--${flag}`) ? words : [...words, `--${flag}`, value]
      expect(await graupel([manual.name, ...given])).toEqual(without)
    })
  },
)

/** The interfaces whose options flags of `next` set; test/api/defaults.test.ts proves their defaults. */
const owners = ['GeneratorSettings', 'LeaseOptions', 'CounterOptions', 'OpenStoreOptions']

describe('next', () => {
  it('prints one id in decimal digits', () => {
    const { stdout } = spawnGraupel(['next', '--node', '7'])
    expect(stdout).toMatch(/^[0-9]{19}\n$/)
  })

  it('has the defaults of the options of the library', () => {
    const documented = documentedDefaults()
    const shown = Object.fromEntries(defaultsOf(nextManual))
    // Options of the command alone, or with a default of their own.
    const own = ['count', 'node', 'format', 'max-wait-ms', 'open-timeout-ms', 'pattern']
    const passed = Object.entries(shown).filter(([flag]) => !own.includes(flag))
    expect(passed.length).toBeGreaterThan(12)
    const plain = (text = '') => text.replace(/['`]|layouts\.| of the layout|(?<=\d) (?=\d)/g, '').replace(/\. .*/, '')
    for (const [flag, value] of passed) {
      const option = flag.replace(/-./g, ([, letter = '']) => letter.toUpperCase())
      const owner = owners.find((owner) => documented.has(`${owner}.${option}`))
      expect([flag, plain(documented.get(`${owner}.${option}`))]).toEqual([flag, value])
    }
  })
})
