import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const long = 'test/**/*.long.test.ts'

/** The tests of `npm run test:kubernetes`, which needs a real API server. */
const cluster = 'test/kubernetes/*.test.ts'
/** The tests of all stores that it also runs, for the store of Kubernetes alone. */
const stores = ['stores/servers', 'stores/processes', 'stores/silent', 'lease/stores', 'lease/kubernetes']

/**
 * Short files whose tests take longest: they compile, install packages, kill processes, or run many worlds.
 */
const slow = [
  /\/test\/native\//,
  /\/test\/(package|orms|runtimes|databases)\//,
  /\/test\/.*(mutations|simulation|model|chaos|parity|fuzz)/,
  /\/test\/host\/(power|kill|processes|claim)\./,
  /\/test\/api\/docs\./,
]

/**
 * Begins with the slow files. Without results of an earlier run, vitest begins with large files, and a worker
 * idles at the end.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) => slow.some((pattern) => pattern.test(moduleId))
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))]
  }
}

// `npm test` (mode 'test') leaves out the long tests, `npm run test:long` runs only them, `npm run test:all`
// runs all tests but those of mode 'kubernetes'.
export default defineConfig(({ mode }) => ({
  test: {
    ...(mode === 'kubernetes'
      ? { include: [cluster, ...stores.map((name) => `test/${name}.long.test.ts`)], testNamePattern: /Kubernetes/ }
      : {
          include: [mode === 'long' ? long : 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, cluster, ...(mode === 'test' ? [long] : [])],
        }),
    pool: 'forks',
    // Many tests start threads and processes themselves, so more files at once would only slow each other
    // down. Long tests also wait for servers, and a third file uses that time.
    maxWorkers: mode === 'long' ? 3 : 2,
    sequence: { sequencer: SlowFirst },
    testTimeout: 120_000,
    // On a busy disk, removing a folder with a hundred packages takes longer than the default of ten seconds.
    hookTimeout: 120_000,
    // test/support/bare.ts prints the warning once.
    execArgv: ['--disable-warning=GRAUPEL_JS_ENGINE'],
    setupFiles: ['test/support/state-folder-of-file.ts'],
    globalSetup: [
      'test/support/bare.ts',
      'test/support/state-folder.ts',
      'test/support/left-out.ts',
      'test/package/shared-folder.ts',
    ],
  },
}))
