import { expect, it } from 'vitest'
import { VirtualTime } from './virtual-time.ts'

it('fires timers in the order of their times, and timers of one moment in the order in which they were set', async () => {
  const time = new VirtualTime()
  const seen: string[] = []
  const random = [7, 3, 9, 3, 1, 9, 5, 0, 3]
  for (const [i, ms] of random.entries()) time.later(() => seen.push(`${time.monotonicMs()} ${ms} ${i}`), ms)
  await time.until(time.sleep(10))
  expect(seen).toEqual(['0 0 7', '1 1 4', '3 3 1', '3 3 3', '3 3 8', '5 5 6', '7 7 0', '9 9 2', '9 9 5'])
})

it('moves only after every promise that can settle has settled', async () => {
  const time = new VirtualTime()
  let at: number | undefined
  const chain = async () => {
    await time.sleep(1)
    for (let i = 0; i < 10_000; i++) await Promise.resolve()
    at = time.monotonicMs()
  }
  time.later(() => {}, 2)
  await time.until(chain())
  expect(at).toBe(1)
})

it('does not move to cancelled timers', async () => {
  const time = new VirtualTime()
  const cancel = time.later(() => expect.fail('it was cancelled'), 5)
  cancel()
  await expect(time.until(new Promise(() => {}))).rejects.toThrow('no timer is set')
  expect(time.monotonicMs()).toBe(0)
})
