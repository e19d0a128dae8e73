import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { folder, read } from './support/deployed.ts'

const name = 'graupel-server.service'
const unit = read(`systemd/${name}`)

/**
 * Verifies a unit with a program of this machine, because the place of Node and of graupel does not matter
 * here.
 */
function verify(text: string): { readonly status: number | null; readonly output: string } {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text.replaceAll('/usr/bin/node', process.execPath))
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['verify', '--man=no', '--recursive-errors=no', file],
    {
      encoding: 'utf8',
    },
  )
  return { status, output: `${stdout}${stderr}` }
}

/** Tells whether the exposure of the service is below a threshold. 100 is the worst. */
function isBelow(threshold: number, text: string): boolean {
  const file = join(folder, name)
  writeFileSync(file, text)
  const words = ['security', '--offline=true', `--threshold=${threshold}`, '--no-pager', file]
  const { status, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return status === 0
}

describeWith(['systemd'], 'the unit of systemd', () => {
  test('systemd finds no fault in it, and finds faults that are put in', () => {
    expect(verify(unit)).toEqual({ status: 0, output: '' })
    for (const [right, wrong] of [
      ['Type=exec', 'Type=execute'],
      ['ProtectSystem=strict', 'ProtectSystems=strict'],
      ['SystemCallFilter=@system-service', 'SystemCallFilter=@system-services'],
      ['/usr/bin/node', '/nowhere/node'],
    ] as const) {
      expect(unit).toContain(right)
      expect(verify(unit.replaceAll(right, wrong)).output, wrong).not.toBe('')
    }
  })

  test('the service is hardly exposed to the rest of the system', () => {
    expect(isBelow(15, unit)).toBe(true)
    expect(isBelow(15, unit.replace('DynamicUser=yes', ''))).toBe(false)
  })
})
