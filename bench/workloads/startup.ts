import type { Subject, Workload } from '../contract.ts'
import { evaluate } from '../measure/fresh.ts'
import { spread } from '../measure/rounds.ts'

const empty = `await import(${JSON.stringify(new URL('empty.mjs', import.meta.url))})`

/**
 * Milliseconds in a fresh process beyond the import of an empty module, in turns with that. tinybench repeats a task in
 * one process, where only the first import loads anything.
 */
function start(
  name: string,
  title: string,
  section: string,
  codeFor: (subject: Subject) => string | undefined,
): Workload {
  return {
    name,
    title,
    section,
    unit: 'ms',
    async run(subject, { isQuick }) {
      const code = codeFor(subject)
      if (code === undefined) return undefined
      // The first process after another program's work finds colder caches than the next.
      await timed(code)
      const times: number[] = []
      const idle: number[] = []
      for (let round = 0; round < (isQuick ? 5 : 21); round++) {
        idle.push(await timed(empty))
        times.push(await timed(code))
      }
      const emptyMs = spread(idle).median
      return {
        figure: spread(times.map((ms) => ms - emptyMs)),
        note: `the empty module takes ${emptyMs.toFixed(1)} ms`,
      }
    },
  }
}

function timed(code: string) {
  return evaluate(
    `const startMs = performance.now(); ${code}; const ms = performance.now() - startMs; process.stdout.write(String(ms))`,
  )
}

function importOf(subject: Subject) {
  return subject.url && `await import(${JSON.stringify(subject.url())})`
}

/** The engine is loaded with the first generator, which the import alone does not show. */
function firstIdOf(subject: Subject) {
  if (subject.group !== 'graupel') return undefined
  const engine = subject.name === 'graupel-js' ? 'js' : 'native'
  return `const { createGenerator, layouts } = ${importOf(subject)};
    createGenerator({ layout: layouts.wide, engine: '${engine}', node: 7, namespace: 'graupel bench' }).next()`
}

export const startup = [
  start('import', 'import', 'Import', importOf),
  start('first-id', 'import to first id', 'Import to first id', firstIdOf),
]
