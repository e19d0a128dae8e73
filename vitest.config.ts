import { configDefaults, defineConfig } from 'vitest/config'

const long = 'test/**/*.long.test.ts'

// `npm test` leaves out what takes long (mode 'test'), `npm run test:long` runs only that, `npm run test:all` both.
export default defineConfig(({ mode }) => ({
  test: {
    include: [mode === 'long' ? long : 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(mode === 'test' ? [long] : [])],
    pool: 'forks',
    // Many tests start threads and processes themselves: more files at once would only slow each other down.
    maxWorkers: 2,
    testTimeout: 120_000,
    // Removing a folder with a hundred packages takes longer than the default of ten seconds on a busy disk.
    hookTimeout: 120_000,
    // test/support/bare.ts says it once.
    execArgv: ['--disable-warning=GRAUPEL_JS_ENGINE'],
    globalSetup: [
      'test/support/bare.ts',
      'test/support/state-folder.ts',
      'test/support/left-out.ts',
      'test/package/shared-folder.ts',
    ],
  },
}))
