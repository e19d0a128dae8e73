import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { testClock } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { folder, serve } from './support/process.ts'

/** How a service answers everything that tells whether it can make ids. */
async function answersOf(url: string): Promise<Record<string, unknown>> {
  const [ids, head, readyz, metrics] = await Promise.all([
    fetch(`${url}/v1/ids`),
    fetch(`${url}/v1/ids`, { method: 'HEAD' }),
    fetch(`${url}/readyz`),
    fetch(`${url}/metrics`),
  ])
  const { code } = (await ids.json()) as { code?: string }
  return {
    code,
    statuses: [ids.status, head.status, readyz.status],
    ready: /^graupel_ready (\d)$/m.exec(await metrics.text())?.[1],
    reason: (await readyz.text()).trim(),
  }
}

let services = 0
const start = ({ env }: ReturnType<typeof testClock>) =>
  serve(['--data', join(folder, `clock-${services++}`), '--drain-ms', '0'], env)

describeWith(['faketime'], 'readiness is what a request for an id gets', () => {
  test.each([
    ['was set back by a minute', '-60', 'ERR_CLOCK_ROLLBACK', 'the clock of this host was set back behind the last id'],
    ['is before the epoch', '-20y', 'ERR_CLOCK_BEFORE_EPOCH', 'shows a time before the epoch of layout'],
    ['is after the last id of the layout', '+80y', 'ERR_LAYOUT_EXPIRED', "layout 'twitter' has no ids for the time"],
  ])('if the clock %s, and if it is right again', async (_, time, code, reason) => {
    const clock = testClock()
    const { url } = await start(clock)
    const right = { code: undefined, statuses: [200, 200, 200], ready: '1', reason: 'ok' }
    expect(await answersOf(url)).toEqual(right)
    clock.set(time)
    const wrong = { code, statuses: [503, 503, 503], ready: '0', reason: expect.stringContaining(reason) }
    expect(await answersOf(url)).toEqual(wrong)
    clock.set('+0')
    await until(async () => (await answersOf(url))['ready'] === '1')
    expect(await answersOf(url)).toEqual(right)
  })

  test('if no id was made before the clock was set back', async () => {
    const clock = testClock()
    const { url } = await start(clock)
    clock.set('-60')
    expect(await answersOf(url)).toMatchObject({ statuses: [503, 503, 503], ready: '0', code: 'ERR_CLOCK_ROLLBACK' })
  })
})
