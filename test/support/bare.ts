import { platform } from '#platform'

/** Whether the run is on a machine that has only Node. CI makes such a run on purpose. */
const isBare = Boolean(process.env['GRAUPEL_TEST_BARE'])
const isFullCi = Boolean(process.env['CI']) && !isBare

/**
 * Whether a test fails if its tool is missing. Otherwise the test is skipped, and says why. The tools are
 * packages of Debian, so other systems need none.
 */
export const needsAll = isFullCi && process.platform === 'linux'

/** Global set-up. Prints once that there is no native engine, or fails if the run needs the engine. */
export default function setUp(): void {
  const reason = whyNotNative()
  if (reason === undefined && isBare) {
    throw new Error('GRAUPEL_TEST_BARE is set, and there is a native engine; unset it, or remove the folder build')
  }
  if (reason === undefined) return
  // The system of a given tarball may have no compiler. test/runtimes demands the binary of the tarball.
  const needsNative = isFullCi && !process.env['GRAUPEL_TEST_PACKAGE']
  if (needsNative) throw new Error(`CI needs the native engine, or GRAUPEL_TEST_BARE=1: ${reason}`)
  console.log(`There is no native engine: ${reason}.\nIts tests are skipped; the others run on the TypeScript engine.`)
}

/** Asks the platform, because `engineInfo()` would also warn. */
function whyNotNative(): string | undefined {
  if (process.env['GRAUPEL_ENGINE'] === 'js') return "GRAUPEL_ENGINE is 'js'"
  const loaded = platform.loadNative()
  return loaded.ok ? undefined : loaded.reason
}
