import { expect, it } from 'vitest'
import { VirtualTime } from './virtual-time.ts'

it('calls timers back in the order of their times, and of those for one moment in the order of setting', async () => {
  const time = new VirtualTime()
  const seen: string[] = []
  const random = [7, 3, 9, 3, 1, 9, 5, 0, 3]
  for (const [i, ms] of random.entries()) time.later(() => seen.push(`${time.monotonicMs()} ${ms} ${i}`), ms)
  await time.until(time.sleep(10))
  expect(seen).toEqual(['0 0 7', '1 1 4', '3 3 1', '3 3 3', '3 3 8', '5 5 6', '7 7 0', '9 9 2', '9 9 5'])
})

it('does not go on before every promise that can settle has settled', async () => {
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

it('does not pass for timers that were taken back', async () => {
  const time = new VirtualTime()
  const cancel = time.later(() => expect.fail('was taken back'), 5)
  cancel()
  await expect(time.until(new Promise(() => {}))).rejects.toThrow('for no timer')
  expect(time.monotonicMs()).toBe(0)
})
