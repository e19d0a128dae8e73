import { afterEach, beforeEach, vi } from 'vitest'
import { platform } from '#platform'
import { VirtualTime } from '../support/virtual-time.ts'

/** Lets the modules of src run in virtual time during the tests of a file. */
export function virtualPlatform(): VirtualTime {
  const time = new VirtualTime()
  beforeEach(() => {
    vi.spyOn(platform, 'wallMs').mockImplementation(() => Date.UTC(2026, 0) + time.monotonicMs())
    vi.spyOn(platform, 'monotonicMs').mockImplementation(() => time.monotonicMs())
    vi.spyOn(platform, 'later').mockImplementation((callback, ms) => time.later(callback, ms))
    vi.spyOn(platform, 'background').mockImplementation((callback, ms) => time.background(callback, ms))
  })
  afterEach(() => void vi.restoreAllMocks())
  return time
}
