import { describe, expect, it } from 'vitest'
import type { Manual } from '../../src/cli/arguments.js'
import { composeManual } from '../../src/cli/compose.js'
import { convertManual } from '../../src/cli/convert.js'
import { inspectManual } from '../../src/cli/inspect.js'
import { nextManual } from '../../src/cli/next.js'
import { serialManual } from '../../src/cli/serial.js'
import { sqlManual } from '../../src/cli/sql.js'
import { graupel } from '../support/cli.js'
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

    it.each(found)('--%s %s is the default', (flag, shown) => {
      const [value = ''] = shown.split(';')
      const without = graupel([manual.name, ...words])
      expect(without).toMatchObject({ status: 0, stderr: '' })
      const given = words.includes(`--${flag}`) ? words : [...words, `--${flag}`, value]
      expect(graupel([manual.name, ...given])).toEqual(without)
    })
  },
)

/** The flags of `next` by their options, whose defaults test/api/defaults.test.ts proves. */
const options: Record<string, [name: string, shown: string]> = {
  layout: ['GeneratorSettings.layout', 'twitter'],
  namespace: ['GeneratorSettings.namespace', 'default'],
  'on-rollback': ['GeneratorSettings.onRollback', 'advance'],
  'on-overflow': ['GeneratorSettings.onOverflow', 'wait'],
  'max-ahead-ms': ['GeneratorSettings.maxAheadMs', '1000, or two ticks if that is more'],
  'sequence-start': ['GeneratorSettings.sequenceStart', 'zero'],
  clock: ['GeneratorSettings.clock', 'wall'],
  state: ['GeneratorSettings.state', 'host'],
  'acquire-timeout-ms': ['LeaseOptions.acquireTimeoutMs', '30000'],
  engine: ['GeneratorSettings.engine', 'auto'],
  reset: ['CounterOptions.reset', 'never'],
  'time-zone': ['CounterOptions.timeZone', 'UTC'],
  prefix: ['OpenStoreOptions.prefix', 'graupel'],
  table: ['OpenStoreOptions.table', 'graupel_store'],
}

describe('next', () => {
  it('prints one id in decimal digits', () => {
    const { stdout } = graupel(['next', '--node', '7'])
    expect(stdout).toMatch(/^[0-9]{19}\n$/)
  })

  it('has the defaults of the options of the library', () => {
    const documented = documentedDefaults()
    const shown = Object.fromEntries(defaultsOf(nextManual))
    // Of the command alone, or the two defaults of two options.
    const own = ['count', 'node', 'format', 'max-wait-ms', 'window-ms', 'pattern']
    const passed = Object.keys(shown).filter((flag) => !own.includes(flag))
    expect(passed.sort()).toEqual(Object.keys(options).sort())
    const plain = (text = '') => text.replace(/['`]|layouts\.| of the layout|(?<=\d) (?=\d)/g, '').replace(/\. .*/, '')
    for (const [flag, [name, value]] of Object.entries(options)) {
      expect([flag, shown[flag]]).toEqual([flag, value])
      expect([flag, plain(documented.get(name))]).toEqual([flag, value])
    }
  })
})
