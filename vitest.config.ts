import { configDefaults, defineConfig } from 'vitest/config'

const long = 'test/**/*.long.test.ts'

// `npm test` (mode 'test') leaves out the long tests, `npm run test:long` runs only them, `npm run test:all` runs all tests.
export default defineConfig(({ mode }) => ({
  test: {
    include: [mode === 'long' ? long : 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(mode === 'test' ? [long] : [])],
    pool: 'forks',
    // Many tests start threads and processes themselves, so more files at once would only slow each other down.
    maxWorkers: 2,
    testTimeout: 120_000,
    // On a busy disk, removing a folder with a hundred packages takes longer than the default of ten seconds.
    hookTimeout: 120_000,
    // test/support/bare.ts prints the warning once.
    execArgv: ['--disable-warning=GRAUPEL_JS_ENGINE'],
    globalSetup: [
      'test/support/bare.ts',
      'test/support/state-folder.ts',
      'test/support/left-out.ts',
      'test/package/shared-folder.ts',
    ],
  },
}))
