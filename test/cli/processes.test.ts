import { expect, it } from 'vitest'
import { graupel, spawnGraupel } from '../support/cli.js'

// Other tests run most commands in their own process. Here, the shipped program prints the same, with the
// same exit code.

const id = '175928847299117063'
/** An epoch a day after which no second of layout baidu is left. */
const almostExpired = String(Date.now() - 2 ** 28 * 1000 + 24 * 3_600_000)

const runs: [words: string[], status: number, input?: string][] = [
  [[], 2],
  [['--help'], 0],
  [['--version'], 0],
  [['help', 'next'], 0],
  [['next', '--node', '1024'], 2],
  // Without ids, because this process would hold the node; with a warning.
  [['next', '-n', '0', '--node', '7', '--layout', 'baidu', '--epoch', almostExpired], 0],
  [['inspect', '-', '--layout', 'discord', '--json'], 2, `${id}\nx\n${id}\n`],
  [['overlap', 'package.json', '-'], 2, `${id}\n`],
  [['compose', '--time', '2026-11-01', '--until', '2026-12-01'], 0],
  [['convert', '-', '--to', 'base62'], 0, `${id}\n`.repeat(10_000)],
  [['serial', '--pattern', '001{yyyyMMddHHmmssSSS}{node}{sequence}', '-', '--layout', 'discord'], 0, `${id}\n`],
  [['sql', '--dialect', 'postgres'], 0],
  [['layouts', '--json'], 0],
  [['state'], 0],
  [['lease', 'list'], 2],
  [['store', 'check', 'x'], 2],
  [['doctor', 'x'], 2],
  [['build', '--help'], 0],
]

/** Leaves the ages of states out, and the width of their column, because one run is later than the other. */
const ageless = (run: { stdout: string }) => ({
  ...run,
  stdout: run.stdout.replace(/, \d+ \w+ ago/g, '').replace(/ {2,}/g, '  '),
})

it.each(runs)('graupel %j', async (words, status, input = '') => {
  const shipped = spawnGraupel(words, {}, input)
  expect(shipped.status).toBe(status)
  const own = await graupel(words, {}, input)
  if (words[0] === 'state') expect(ageless(shipped)).toEqual(ageless(own))
  else expect(shipped).toEqual(own)
})

it('a run leaves this process as it was', async () => {
  const left = () => ({
    variables: { ...process.env },
    listeners: process.eventNames().map((name) => process.listenerCount(name)),
  })
  const before = left()
  const local = async (TZ: string) =>
    (await graupel(['inspect', id, '--layout', 'discord'], { TZ, GRAUPEL_NODE: '7' })).stdout
  expect(await local('Asia/Tokyo')).toContain('20:18:25.796 +09:00 Asia/Tokyo')
  expect(await local('America/New_York')).toContain('07:18:25.796 -04:00 America/New_York')
  expect(left()).toEqual(before)
  const first = graupel(['layouts'])
  await expect(graupel(['layouts'])).rejects.toThrow('runs share the environment')
  await first
  expect(left()).toEqual(before)
})

it('each command is among them', async () => {
  const { stdout } = await graupel(['--help'])
  const [, list = ''] = /\nCommands\n([\s\S]*?)\n\n/.exec(stdout) ?? []
  const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !runs.some(([[first]]) => first === name))).toEqual([])
})
