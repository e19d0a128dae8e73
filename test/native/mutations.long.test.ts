import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, it } from 'vitest'
import { build, coreObjects, coreSources, folder, here, native, removeFolder, run, timeout, whyNot } from './compile.js'
import { mutations } from './mutations.js'
import { leaveOut } from './programs.js'

// The programs must fail if a step of the protocol is left out or moved. Each of these tests puts a defect
// into a copy of native/, and expects a failed check.

afterAll(removeFolder)

describe('the programs of test/native', () => {
  for (const [index, mutation] of mutations.entries()) {
    it.concurrent(`notice that ${mutation.defect}`, { timeout }, async (context) => {
      const { expect } = context
      leaveOut(context, await whyNot('few optimisations'))
      const place = join(folder, `mutation-${index}`)
      const tests = join(place, 'test/native')
      await mkdir(tests, { recursive: true })
      await cp(native, join(place, 'native'), { recursive: true })
      await cp(here, tests, { recursive: true })
      const file = join(place, 'native', mutation.file)
      const parts = (await readFile(file, 'utf8')).split(mutation.from)
      expect(parts, `the mutated text in ${mutation.file}`).toHaveLength(2)
      await writeFile(file, parts.join(mutation.to))

      const { test = 'ceiling_model_test' } = mutation
      const isModel = test === 'ceiling_model_test' || test === 'interleave_test'
      // The models and uuid_test include the headers that they check; the other programs are linked with the
      // core.
      const more = isModel || test === 'uuid_test' ? [] : await coreWith(join(place, 'native'), mutation.file)
      const program = await build(test, 'few optimisations', more, tests)
      await expect(run(program, isModel ? ['--preemptions', '1'] : [])).rejects.toThrow(/CHECK\(.*\) failed/)
    })
  }
})

/**
 * The sources of the copy if a header is mutated; otherwise the mutated source and the objects of the other
 * sources.
 */
async function coreWith(copy: string, mutated: string): Promise<string[]> {
  if (!coreSources.includes(mutated)) return coreSources.map((source) => join(copy, source))
  const objects = await coreObjects('few optimisations')
  return coreSources.map((source, i) => (source === mutated ? join(copy, source) : (objects[i] as string)))
}
