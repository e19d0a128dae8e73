import { afterAll, beforeAll, expect, vi } from 'vitest'

// Runs before each test file that shares a process with others. A file that changes its process would make
// others fail, in some runs only. Such a file needs a process of its own: vitest.config.ts, `sharing`.
const state = () => ({ variables: { ...process.env }, fakeTimers: vi.isFakeTimers() })
let before: ReturnType<typeof state>

beforeAll(() => {
  before = state()
})
afterAll(() => expect(state(), 'what this file leaves in its process').toEqual(before))
