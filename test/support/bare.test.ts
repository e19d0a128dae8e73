import { afterEach, expect, it, vi } from 'vitest'

// The global set-up test/support/bare.ts, in a run without a native engine.

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  vi.resetModules()
})

/** Runs the set-up with these variables, and returns what it prints. */
async function setUpWith(variables: Record<string, string>): Promise<string> {
  const all = { CI: '', GRAUPEL_TEST_BARE: '', GRAUPEL_TEST_PACKAGE: '', ...variables, GRAUPEL_ENGINE: 'js' }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  vi.resetModules()
  const said = vi.spyOn(console, 'log').mockReturnValue(undefined)
  const { default: setUp } = await import('./bare.ts')
  setUp()
  return said.mock.calls.join('\n')
}

it.each([
  ['on a machine of a developer', {}],
  ['in the run with Node alone', { CI: 'true', GRAUPEL_TEST_BARE: '1' }],
  ['in CI that tests a given tarball', { CI: 'true', GRAUPEL_TEST_PACKAGE: 'tarball' }],
])('the tests run %s', async (_, variables) => {
  expect(await setUpWith(variables)).toContain("There is no native engine: GRAUPEL_ENGINE is 'js'")
})

it('other runs of CI are refused', async () => {
  await expect(setUpWith({ CI: 'true' })).rejects.toThrow('CI needs the native engine, or GRAUPEL_TEST_BARE=1')
})
