import { describe, expect, it } from 'vitest'
import { type Extent, runChaos } from '../chaos/run.ts'
import { mysqlSite, type OpenSite, postgresSite, redisSite, sqliteSite } from '../chaos/sites.ts'
import { describeWith } from '../support/needs.ts'
import { seededRandom } from '../support/random.ts'
import { segmentsOf } from './chaos-work.ts'

// Segments on real servers, used by real processes, with the faults of test/lease/chaos.long.test.ts. Faults
// that lose all data of the store are left out, because only leases survive them; so segments have a run of
// their own. No number may come twice, each caller's numbers ascend, and after the faults every thread of
// every process makes numbers again.
//
//   GRAUPEL_CHAOS_MINUTES=30 npx vitest run --mode long test/segments/chaos.long.test.ts

const minutes = Number(process.env['GRAUPEL_CHAOS_MINUTES'] ?? 0.25)
const extent: Extent = { processes: 4, ms: minutes * 60_000, ids: 20_000, pauseMs: 5 }
const sites: Record<string, OpenSite> = {
  Redis: redisSite(),
  PostgreSQL: postgresSite,
  MySQL: mysqlSite,
  SQLite: sqliteSite,
}

describeWith(['linux', 'faketime'], 'processes that make numbers of segments of one name', () => {
  describe('on a shared store', () => {
    it.concurrent.each(Object.entries(sites))(
      'make distinct numbers in order on %s, through faults of all kinds, and go on afterwards',
      async (name, open) => {
        const work = segmentsOf(extent.processes)
        const { findings, ids, events, ...run } = await runChaos(
          open,
          work,
          extent,
          seededRandom(`segments on ${name}`),
        )
        console.info(`${name}: ${ids} numbers`, run, events)
        expect(findings.slice(0, 6).join('\n')).toBe('')
        expect(ids).toBeGreaterThanOrEqual(extent.ids)
        // SQLite never forgets.
        if (open !== sqliteSite) expect(events['skipped']).toBeGreaterThan(0)
      },
      extent.ms * 6 + 900_000,
    )
  })
})
