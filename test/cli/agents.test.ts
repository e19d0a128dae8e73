import { expect, it } from 'vitest'
import { read } from '../support/documents.js'
import { graupelIn, sqliteFleet } from './fleet.ts'

const commands = ['skills/graupel/SKILL.md', 'docs/llms.txt'].flatMap((file) =>
  [...read(file).matchAll(/`npx graupel ([^`]+)`/g)].map(([, words = '']) => ({ file, words })),
)

it.each(commands)('graupel $words of $file works', async ({ words }) => {
  const { file, folder } = await sqliteFleet()
  const given = words.split(' ').map((word) => ({ URL: `sqlite:${file}`, ID: '1541815603606036480' })[word] ?? word)
  expect(await graupelIn(folder, given)).toMatchObject({ status: 0, stderr: '' })
})

it('the documents name four commands', () => {
  const names = new Set(commands.map(({ words }) => words.split(' ')[0]))
  expect([...names].toSorted()).toEqual(['doctor', 'inspect', 'lease', 'store'])
})
