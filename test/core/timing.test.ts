import { describe, expect, it } from 'vitest'
import { endWithin, onAbort, sleep, untilAborted } from '../../src/core/timing.js'
import { VirtualTime } from '../support/virtual-time.ts'

const never = () => new Promise<never>(() => {})
const late = () => new Error('late')

/** A signal, and how many listeners it has. */
function countedSignal() {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...words: Parameters<typeof addEventListener>) => {
    listeners++
    addEventListener.apply(signal, words)
  }
  signal.removeEventListener = (...words: Parameters<typeof removeEventListener>) => {
    listeners--
    removeEventListener.apply(signal, words)
  }
  return { controller, signal, listeners: () => listeners }
}

describe('work with a deadline', () => {
  it('gives its value, and leaves neither a timer nor a listener', async () => {
    const time = new VirtualTime()
    const { signal, listeners } = countedSignal()
    const work = async (own: AbortSignal) => {
      await time.sleep(50)
      return own.aborted
    }
    expect(await time.until(endWithin(time, 100, signal, work, late))).toBe(false)
    expect(listeners()).toBe(0)
    await expect(time.until(never())).rejects.toThrow('everything waits, but no timer is set')
    expect(time.monotonicMs()).toBe(50)
  })

  it('fails as the work does, also if that throws at once', async () => {
    const time = new VirtualTime()
    const fault = new Error('fault')
    const fail = () => {
      throw fault
    }
    await expect(time.until(endWithin(time, 100, undefined, fail, late))).rejects.toBe(fault)
    await expect(time.until(endWithin(time, 100, undefined, async () => fail(), late))).rejects.toBe(fault)
  })

  it('ends at the deadline, and aborts the work, whose outcome is dropped', async () => {
    const time = new VirtualTime()
    const { signal, listeners } = countedSignal()
    let own: AbortSignal | undefined
    const work = async (given: AbortSignal) => {
      own = given
      await time.sleep(200)
      throw new Error('too late to be heard')
    }
    await expect(time.until(endWithin(time, 100, signal, work, late))).rejects.toThrow('late')
    expect(time.monotonicMs()).toBe(100)
    expect(own?.aborted).toBe(true)
    expect(listeners()).toBe(0)
    await time.until(time.sleep(200))
  })

  it('ends when the signal is aborted, with its reason', async () => {
    const time = new VirtualTime()
    const { controller, signal, listeners } = countedSignal()
    let reason: unknown
    const work = (own: AbortSignal) => {
      onAbort(own, () => {
        reason = own.reason
      })
      return never()
    }
    time.later(() => controller.abort('enough'), 30)
    await expect(time.until(endWithin(time, 100, signal, work, late))).rejects.toBe('enough')
    expect(time.monotonicMs()).toBe(30)
    expect(reason).toBe('enough')
    expect(listeners()).toBe(0)
  })

  it('is not begun if the signal is aborted already', async () => {
    const signal = AbortSignal.abort('enough')
    const work = () => expect.fail('it has begun')
    await expect(endWithin(new VirtualTime(), 100, signal, work, late)).rejects.toBe('enough')
  })
})

describe('a promise and a signal', () => {
  it('settle as the promise does, if there is no abort before', async () => {
    const { signal, listeners } = countedSignal()
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no')
    expect(await untilAborted(Promise.resolve(2), undefined)).toBe(2)
    expect(listeners()).toBe(0)
  })

  it('reject with the reason of the signal, also if the promise fails later', async () => {
    const { controller, signal } = countedSignal()
    let fail = (_error: Error) => {}
    const work = new Promise<never>((_, reject) => {
      fail = reject
    })
    const ended = untilAborted(work, signal)
    controller.abort('enough')
    await expect(ended).rejects.toBe('enough')
    fail(new Error('too late to be heard'))
    await expect(untilAborted(never(), signal)).rejects.toBe('enough')
  })
})

describe('a sleep', () => {
  it('lasts as long as it is told', async () => {
    const time = new VirtualTime()
    await time.until(sleep(time, 70))
    expect(time.monotonicMs()).toBe(70)
  })

  it('ends with the reason of its signal, and leaves no timer', async () => {
    const time = new VirtualTime()
    const controller = new AbortController()
    const slept = sleep(time, 70, controller.signal)
    controller.abort('enough')
    await expect(slept).rejects.toBe('enough')
    await expect(time.until(never())).rejects.toThrow('everything waits, but no timer is set')
  })
})
