import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The stress tests use all cores themselves, and two at once would only slow each other down.
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 120_000,
    globalSetup: 'test/host/clean-pages.ts',
  },
})
