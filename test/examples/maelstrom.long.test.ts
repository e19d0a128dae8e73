import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { Network } from '../support/maelstrom.ts'
import { seededRandom } from '../support/random.ts'
import { folderWith } from './app.ts'

const folder = folderWith('maelstrom.mjs')
const names = ['n1', 'n2', 'n3']
const rounds = 12
const requestsOfRound = 300
const random = seededRandom('the network of Maelstrom')
const store = `sqlite:${join(folder, 'maelstrom.db')}`
const network = new Network([process.execPath, join(folder, 'maelstrom.mjs')], { STORE_URL: store }, random)
afterAll(() => network.destroy())

it('maelstrom.mjs gives no id twice, with partitions, kills and messages that come twice', async () => {
  await Promise.all(names.map((name) => network.start(name, names)))
  expect(await network.ask('n1', { type: 'echo' })).toMatchObject({ type: 'error', code: 10 })
  let unanswered = 0
  for (let round = 0; round < rounds; round++) {
    const victim = names[Math.floor(random() * names.length)] as string
    const isKill = round % 3 === 2
    const asked = Array.from({ length: requestsOfRound }, () => {
      const name = names[Math.floor(random() * names.length)] as string
      return network.ask(name, { type: 'generate' }).then((reply) => [name, reply?.type] as const)
    })
    if (isKill) {
      await network.kill(victim)
      await network.start(victim, names)
    } else {
      network.cutOff(victim, true)
      expect(await network.ask(victim, { type: 'generate' })).toBeUndefined()
    }
    for (const [name, type] of await Promise.all(asked)) {
      // Only a node that is cut off or killed may leave a request without an answer.
      if (name !== victim || type !== undefined) expect(type).toBe('generate_ok')
      else unanswered++
    }
    network.cutOff(victim, false)
  }
  const generated = network.sent.filter(({ body }) => body.type === 'generate_ok')
  const ids = generated.map(({ body }) => body.id as string)
  expect(ids.every((id) => /^\d{18,19}$/.test(id))).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
  // The faults have happened, and most requests were answered.
  expect([network.lost, network.doubled, unanswered].every((number) => number > 10)).toBe(true)
  expect(ids.length).toBeGreaterThan((rounds * requestsOfRound) / 2)
  expect(await network.end()).toEqual([0, 0, 0])
})
