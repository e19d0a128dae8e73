import { fileURLToPath } from 'node:url'
import { count, digits } from '../bars.ts'
import type { Workload } from '../contract.ts'
import { pinLoad, withServers } from '../measure/load.ts'
import { freePort, missingForResp, respLoad } from '../measure/resp-load.ts'
import { turns } from '../measure/turns.ts'
import { checkOf } from './service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Row {
  name: string
  title: string
  unit: string
  /** The key of the service's INCR. */
  key: string
  depth: number
}

/** Sends as many commands as the service answers, in turns with redis-server and as many at once. */
function row({ name, title, unit, key, depth }: Row): Workload {
  return {
    ...{ name, title, unit, section: 'The id service', of: 'service', isHigherBetter: true },
    yardstick: "redis-server's INCR",
    missing: missingForResp,
    async run({ build = root }, options) {
      pinLoad()
      return withServers(build, async ({ start, redis }) => {
        const port = await freePort()
        const server = await start('--resp', `${port}`)
        const own = respLoad({ server, port, command: ['INCR', key], depth })
        const other = await freePort()
        const yardstick = respLoad({ server: await redis(other), port: other, command: ['INCR', 'orders'], depth })
        const { counted, over, disturbed } = await turns(yardstick, own, options)
        const rate = over(({ yardstickRate }) => yardstickRate)
        const cpu = [over(({ own }) => own.cpuUs).median, over(({ before }) => before.cpuUs).median]
        return {
          figure: over(({ own }) => own.rate),
          yardstick: rate,
          ratio: over(({ own, yardstickRate }) => own.rate / yardstickRate),
          check: checkOf(counted.map(({ own }) => own.numbers)),
          ...disturbed,
          note: `beside ${count(Math.round(rate.median))}/s; ${cpu.map(digits).join(' beside ')} µs of processor time each; 64 connections that do not wait have a p99 of ${digits(over(({ own }) => own.p99Ms).median)} ms`,
        }
      })
    },
  }
}

const [ids, numbers] = ['id:twitter', 'orders']

export const serviceResp = [
  row({
    name: 'service-resp',
    title: 'INCR id:twitter, 16 at once',
    unit: 'ids/s',
    key: ids,
    depth: 16,
  }),
  row({
    ...{ name: 'service-resp-numbers', title: 'INCR of a segment, 16 at once', unit: 'numbers/s' },
    ...{ key: numbers, depth: 16 },
  }),
  row({
    name: 'service-resp-one',
    title: 'INCR id:twitter, one at once',
    unit: 'ids/s',
    key: ids,
    depth: 1,
  }),
]
