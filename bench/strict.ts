import { withServers, wrk } from './measure/load.ts'

// Measures requests for one id of `graupel-server --strict` and of the same service without it, in turns.

const rounds = 9
const seconds = 2

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[all.length >> 1] as number

await withServers(new URL('..', import.meta.url).pathname, async ({ start }) => {
  const [usual, strict] = [await start(), await start('--strict')]
  const load = { path: '/v1/ids', accept: 'application/json', seconds }
  const ratios = { rate: [] as number[], cpu: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const before = await wrk(usual, load)
    const own = await wrk(strict, load)
    const after = await wrk(usual, load)
    ratios.rate.push((2 * own.rate) / (before.rate + after.rate))
    ratios.cpu.push((2 * own.cpuUs) / (before.cpuUs + after.cpuUs))
  }
  console.log(`requests: ${median(ratios.rate).toFixed(3)} of those without --strict`)
  console.log(`processor time of a request: ${median(ratios.cpu).toFixed(3)}`)
})
