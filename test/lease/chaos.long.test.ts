import { expect, it } from 'vitest'
import { type Extent, runChaos } from '../chaos/run.ts'
import { durableSite, mysqlSite, type OpenSite, postgresSite, redisSite, sqliteSite } from '../chaos/sites.ts'
import { consul } from '../stores/kinds/consul.ts'
import { dynamodb } from '../stores/kinds/dynamodb.ts'
import { etcd } from '../stores/kinds/etcd.ts'
import { kubernetes } from '../stores/kinds/kubernetes.ts'
import { mongodb } from '../stores/kinds/mongodb.ts'
import { azure, google, s3 } from '../stores/kinds/object.ts'
import { service } from '../stores/kinds/service.ts'
import { zookeeperKind } from '../stores/kinds/zookeeper.ts'
import { describeWith } from '../support/needs.ts'
import { seededRandom } from '../support/random.ts'
import { leases } from './chaos-work.ts'

// Leases on real servers, used by real processes, with real faults: processes stopped, killed, released,
// their clocks stepped; servers killed, with their data and without, emptied, restored from an older copy;
// connections cut, replies lost after the write, requests that arrive late, servers that never answer. No two
// processes may make one id, each caller's ids ascend, and when the faults end, every thread of every process
// makes ids again.
//
// `npx vitest run --mode long` takes a quarter of a minute of faults for each store, with two faults of its
// server. For as long as one likes, and as many ids in proportion to 10^8 in half an hour for each store,
// which takes as long four times:
//
//   GRAUPEL_CHAOS_MINUTES=30 GRAUPEL_TEST_CONSUL=$(.ci/consul) npx vitest run --mode long
//   test/lease/chaos.long.test.ts
//
// GRAUPEL_SEED repeats the choices, but not what processes and servers do at the same time.

const minutes = Number(process.env['GRAUPEL_CHAOS_MINUTES'] ?? 0.25)
const extent: Extent = {
  // Twelve processes of each of three stores are more than two processors can carry beside other tests.
  processes: minutes < 1 ? 8 : 12,
  ms: minutes * 60_000,
  ids: Math.max(7.5e5, (minutes / 30) * 1e8),
  pauseMs: 20,
  // After each, a store that may forget gives no lease for ten seconds.
  ...(minutes < 1 && { serverFaults: 2 }),
}
const timeout = extent.ms * 6 + 900_000

/** Three at a time, for the sake of two processors. A store that may forget takes longest. */
const groups: { readonly needs: readonly (() => string | undefined)[]; readonly sites: Record<string, OpenSite> }[] = [
  { needs: [], sites: { Redis: redisSite(), PostgreSQL: postgresSite, MySQL: mysqlSite } },
  {
    needs: [etcd.missing],
    sites: {
      SQLite: sqliteSite,
      'Redis that never forgets': redisSite(true),
      etcd: durableSite(etcd, 'etcd'),
    },
  },
  {
    needs: [zookeeperKind.missing, consul.missing],
    sites: {
      ZooKeeper: durableSite(zookeeperKind, 'node-zookeeper-client'),
      Consul: durableSite(consul, 'consul'),
      Kubernetes: durableSite(kubernetes, 'kubernetes'),
      'graupel-server': durableSite(service, 'service'),
    },
  },
  {
    needs: [],
    sites: {
      DynamoDB: durableSite(dynamodb, 'aws-sdk'),
      'a stand-in for MongoDB': durableSite(mongodb, 'mongodb'),
      S3: durableSite(s3, 's3'),
      Azure: durableSite(azure, 'azure'),
      Google: durableSite(google, 'google'),
    },
  },
]

for (const { needs, sites } of groups) {
  describeWith(['native', 'linux', 'faketime', ...needs], 'processes that lease nodes from a store', () => {
    it.concurrent.each(Object.entries(sites))(
      'make distinct ids in order on %s, through faults of all kinds, and go on afterwards',
      async (name, open) => {
        const { findings, ids, ...run } = await runChaos(open, leases, extent, seededRandom(`chaos on ${name}`))
        console.info(`${name}: ${ids} ids`, run)
        expect(findings.slice(0, 6).join('\n')).toBe('')
        expect(ids).toBeGreaterThanOrEqual(extent.ids)
        expect(run.events['moved']).toBeGreaterThan(0)
      },
      timeout,
    )
  })
}
