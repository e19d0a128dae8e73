import { platform } from '#platform'

/** A run on a machine that has only Node, which CI makes once on purpose. */
const isBare = Boolean(process.env['GRAUPEL_TEST_BARE'])

/** Whether a test that cannot run for lack of a tool fails. Otherwise it is skipped, and says why. */
export const needsAll = Boolean(process.env['CI']) && !isBare

/** Global set-up: says once that there is no native engine, or fails if there has to be one. */
export default function setUp(): void {
  const reason = whyNotNative()
  if (reason === undefined && isBare) {
    throw new Error('GRAUPEL_TEST_BARE is set, and there is a native engine; unset it, or remove the folder build')
  }
  if (reason === undefined) return
  if (needsAll) throw new Error(`CI needs the native engine, or GRAUPEL_TEST_BARE=1: ${reason}`)
  console.log(`There is no native engine: ${reason}.\nIts tests are skipped; the others run on the TypeScript engine.`)
}

/** Not by `engineInfo()`, which would warn, too. */
function whyNotNative(): string | undefined {
  if (process.env['GRAUPEL_ENGINE'] === 'js') return "GRAUPEL_ENGINE is 'js'"
  const loaded = platform.loadNative()
  return loaded.ok ? undefined : loaded.reason
}
