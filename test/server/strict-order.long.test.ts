import { expect, test } from 'vitest'
import { startEtcd } from '../stores/kinds/etcd.ts'
import { host } from '../stores/kinds/kind.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'
import { describeWith } from '../support/needs.ts'
import { seededRandom } from '../support/random.ts'
import { repetitions } from '../support/short.ts'
import { type Figures, noDeadline, type Plan, runGroup } from './support/strict-group.ts'

// Real servers of a strict group on real stores. Eight clients check the order of all answers in real time.

/** GRAUPEL_STRICT_ANSWERS=10000000 is the long form, with 200 kills. */
const answers = Number(process.env['GRAUPEL_STRICT_ANSWERS'] ?? repetitions(300_000, 40_000))
const wanted = { answers, kills: Math.max(3, Math.round(answers / 50_000)) }

const stores = {
  PostgreSQL: {
    start: () => startPostgres(),
    at: (port: number) => ['--store', `postgres://postgres@${host}:${port}/postgres`, '--assume-durable'],
  },
  etcd: { start: () => startEtcd(), at: (port: number) => ['--store', `etcd://${host}:${port}`] },
}

async function onStore({ start, at }: (typeof stores)['etcd'], more: Partial<Plan> = {}): Promise<Figures> {
  const server: Server = await start()
  try {
    const random = seededRandom('a strict group')
    return await runGroup({ storePort: server.port, storeAt: at, random, wanted, ...more })
  } finally {
    await server.stop()
  }
}

function told({ clients, afterKill, afterRelease, ...counts }: Figures): string {
  const spread = (all: readonly number[]) =>
    `${Math.round(all[all.length >> 1] ?? 0)} ms, at most ${Math.round(all.at(-1) ?? 0)} ms`
  const refused = `${clients.refused} refusals, ${clients.broken} broken requests`
  return `${JSON.stringify(counts)}; ids after a kill: ${spread(afterKill)}; after SIGTERM: ${spread(afterRelease)}; ${refused}`
}

describeWith(['postgres', 'etcd', 'faketime'], 'a strict group of three servers', () => {
  test.each(['PostgreSQL', 'etcd'] as const)('answers in the order of real time on %s', async (name) => {
    const figures = await onStore(stores[name])
    console.info(`${name}: ${told(figures)}`)
    expect(figures.clients.order.inversions.slice(0, 3)).toEqual([])
    expect(figures.answers).toBeGreaterThanOrEqual(wanted.answers)
    expect(figures.kills).toBeGreaterThanOrEqual(wanted.kills)
  })

  test('answers out of order if the holder has no deadline', async () => {
    const figures = await onStore(stores.PostgreSQL, { defect: noDeadline, endsAtInversion: true })
    console.info(`without a deadline: ${told(figures)}`)
    expect(figures.inversions).toBeGreaterThan(0)
  })
})
