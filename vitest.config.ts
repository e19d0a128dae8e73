import { existsSync } from 'node:fs'
import type { Plugin } from 'vite'
import { configDefaults, defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import manifest from './package.json' with { type: 'json' }

const long = 'test/**/*.long.test.ts'

/**
 * The long tests of the gate, in their short form: the proofs of the engines, the host and the leases, and
 * tests of the package that would make `npm test` slow.
 */
const gate = [
  'test/engine/*.long.test.ts',
  'test/host/*.long.test.ts',
  'test/native/{core,mutations}.long.test.ts',
  'test/lease/{memory,model,mutations,simulation,simulation-durable}.long.test.ts',
  'test/segments/simulation.long.test.ts',
  'test/counter/simulation.long.test.ts',
  'test/stores/object-proof.long.test.ts',
  'test/package/{package,sizes}.long.test.ts',
  'test/support/builds.long.test.ts',
]

/** The tests of the gate with Node alone: of the folders that an engine touches, and two of the service. */
const bare = [
  'test/{api,engine,host,lease,segments,package}/**/*.test.ts',
  'test/cli/next.test.ts',
  'test/server/{ids,page}.test.ts',
]
/** In these folders: what runs no engine, or nothing else on the js engine than beside the native one. */
const noEngine = [
  'test/**/{simulation,phases,programs}.test.ts',
  'test/api/{docs,glossary,layout-properties,path,reference,types,types-in-editors}.test.ts',
  'test/lease/strict.test.ts',
]

/** The tests that need a real API server of Kubernetes. */
const cluster = 'test/kubernetes/*.test.ts'
/** The tests that need Ceph's radosgw. */
const radosgw = 'test/s3/*.test.ts'
/** The tests of all stores that then also run, for the store of Kubernetes alone. */
const stores = ['stores/servers', 'stores/processes', 'stores/silent', 'lease/stores', 'lease/kubernetes']

/** The files of each mode. */
const files: Record<string, { include: string[]; exclude?: string[]; testNamePattern?: RegExp }> = {
  test: { include: ['test/**/*.test.ts'], exclude: [long, cluster, radosgw] },
  long: { include: [long] },
  gate: { include: gate },
  bare: { include: bare, exclude: [long, ...noEngine] },
  all: { include: ['test/**/*.test.ts'], exclude: [cluster, radosgw] },
  kubernetes: {
    include: [cluster, ...stores.map((name) => `test/${name}.long.test.ts`)],
    testNamePattern: /Kubernetes/,
  },
  s3: { include: [radosgw] },
}

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

/** The names of `imports` in package.json and server/package.json, with their sources. */
const ownNames: Record<string, string> = {
  '#platform': 'platform/node',
  '#cipher': 'platform/node',
  '#key-file': 'cli/key-file',
  '#lease-options': 'lease/options',
  '#store-options': 'stores/options',
  '#suggestion': 'core/suggestion',
}

/**
 * Leads the names by which users import the package, `graupel/stores/redis`, to the sources. The tests of the
 * package and of runtimes load `dist`.
 */
const fromSource: Plugin = {
  name: 'from-source',
  enforce: 'pre',
  resolveId(name, importer = '') {
    if (/\/test\/(package|runtimes)\//.test(importer)) return undefined
    const own = ownNames[name]
    if (own !== undefined) return `${import.meta.dirname}/src/${own}.ts`
    const entry = name.replace(/^graupel(?=\/|$)/, '.')
    if (!(entry in manifest.exports) || entry === './package.json') return undefined
    const path = `${import.meta.dirname}/src${entry.slice(1)}`
    return existsSync(`${path}.ts`) ? `${path}.ts` : `${path}/index.ts`
  },
}

export default defineConfig(({ mode }) => {
  const { include, exclude = [], testNamePattern } = files[mode] ?? (files['test'] as (typeof files)[string])
  return {
    plugins: [fromSource],
    test: {
      include,
      exclude: [...configDefaults.exclude, ...exclude],
      ...(testNamePattern !== undefined && { testNamePattern }),
      // A process for each file, although its start takes 0.4 s of processor time. Files that share one fail
      // by their order: hooks at the top of a helper run for its first importer only, and the process goes on
      // to know that its machine was copied.
      pool: 'forks',
      // Without the cache, each file transforms all sources again.
      experimental: { fsModuleCache: true },
      // More than two processors, because many tests wait: for servers, processes and leases that lapse. Long
      // tests wait less.
      maxWorkers: mode === 'long' || mode === 'all' ? 3 : 4,
      sequence: { sequencer: SlowFirst },
      // Only for what hangs: on a busy machine an installation, a compilation or a search takes minutes.
      testTimeout: 600_000,
      hookTimeout: 600_000,
      // test/support/bare.ts prints the warning once.
      execArgv: ['--disable-warning=GRAUPEL_JS_ENGINE'],
      setupFiles: ['test/support/state-folder-of-file.ts', 'test/support/both-engines.ts'],
      // Processes of tests run all sources, so each change in watch mode concerns each test.
      forceRerunTriggers: ['**/{src,native}/**'],
      globalSetup: [
        'test/support/built.ts',
        'test/support/authorities.ts',
        'test/support/bare.ts',
        'test/support/state-folder.ts',
        'test/support/left-out.ts',
        'test/package/shared-folder.ts',
      ],
    },
  }
})
