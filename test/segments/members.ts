import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Slot } from '../chaos/crew.ts'
import { type Proof, prove } from '../chaos/proof.ts'
import { TcpProxy } from '../chaos/proxy.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import { seededRandom } from '../support/random.ts'
import { until } from '../support/until.ts'
import { segmentsOf } from './chaos-work.ts'

const count = 3

/** A process that makes numbers, and the proxy between it and the server. */
export interface Member {
  readonly slot: Slot
  readonly proxy: TcpProxy
}

type Three = [Member, Member, Member]

/**
 * Lets three processes make numbers of one name, the third process in two threads. Expects each number once,
 * and each caller's numbers in order.
 *
 * @param port - Returns the port of the current server.
 * @param faults - The faults of the processes and the server. The processes go on afterwards.
 */
export async function proveMembers(
  title: string,
  plan: (slot: number, port: number) => StorePlan,
  port: () => number,
  faults: (...members: Three) => Promise<void>,
): Promise<Proof> {
  const random = seededRandom(`segments on ${title}`)
  const folder = mkdtempSync(join(tmpdir(), 'graupel-members-'))
  const work = segmentsOf(count)
  const members: Member[] = []
  try {
    for (let number = 0; number < count; number++) {
      const proxy = await TcpProxy.start(port, random)
      const site = { plan: () => plan(number, proxy.port) }
      members.push({ proxy, slot: new Slot(number, site, work, folder, random, 5) })
    }
    await goOn(members, 100)
    await faults(...(members as Three))
    await goOn(members)
    await Promise.all(members.map(({ slot }) => slot.leave()))
    const proof = await prove(folder, work.subject, [], 0)
    expect([...members.flatMap(({ slot }) => slot.deaths), ...proof.findings].join('\n')).toBe('')
    return proof
  } finally {
    await Promise.all(members.map(({ slot }) => slot.kill()))
    for (const { proxy } of members) proxy.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Waits until each process has made this many more numbers. The default exceeds the numbers that were fetched
 * before.
 */
export async function goOn(members: readonly Member[], more = 1300): Promise<void> {
  const made = ({ slot }: Member) => [...slot.written().values()].reduce((sum, count) => sum + count, 0)
  const before = members.map(made)
  await until(() => {
    for (const { slot } of members) expect(slot.deaths).toEqual([])
    return members.every((member, i) => made(member) >= (before[i] as number) + more)
  })
}
