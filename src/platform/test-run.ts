/**
 * Whether a test runner has started this process: Jest, Vitest, Bun and most configurations of Mocha set
 * `NODE_ENV`, and `node --test` the other variable.
 */
export function isTestRun(): boolean {
  const { process } = globalThis as { process?: { env?: Readonly<Record<string, string | undefined>> } }
  return process?.env?.['NODE_ENV'] === 'test' || process?.env?.['NODE_TEST_CONTEXT'] !== undefined
}
