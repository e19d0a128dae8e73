// Compiles the native engine of a clone, at the end of `npm run prepare`, unless it is up to date. A clone
// without a compiler has the TypeScript engine, so a failure is no error.
import { buildEngine } from '../src/cli/build.ts'

try {
  const { outcome, isNew } = buildEngine(false)
  if (isNew) console.error(`graupel: ${outcome}`)
} catch (error) {
  console.error(`graupel: ${(error as Error).message}; the TypeScript engine will run`)
}
