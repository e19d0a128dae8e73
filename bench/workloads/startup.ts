import type { Subject, Workload } from '../contract.ts'
import { evaluate } from '../measure/fresh.ts'
import { spread } from '../measure/rounds.ts'

const empty = `await import(${JSON.stringify(new URL('empty.mjs', import.meta.url))})`

/**
 * Measures milliseconds in a fresh process above the import of an empty module, in turns with it. tinybench
 * is no help, because it repeats a task in one process, and only the first import loads anything. The clock
 * is not `performance`, which would load modules of Node before a subject can be charged with them.
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
    yardstick: 'an empty module',
    async run(subject, { isQuick }) {
      const code = codeFor(subject)
      if (code === undefined) return undefined
      // The first process after another program finds colder caches than the next.
      await timed(code)
      const times: number[] = []
      const idle: number[] = []
      for (let round = 0; round < (isQuick ? 5 : 21); round++) {
        idle.push(await timed(empty))
        times.push(await timed(code))
      }
      const yardstick = spread(idle)
      const above = times.map((ms) => ms - yardstick.median)
      return { figure: spread(above), yardstick, ratio: spread(above.map((ms) => ms / yardstick.median)) }
    },
  }
}

function timed(code: string) {
  return evaluate(
    `const start = process.hrtime.bigint(); ${code}; process.stdout.write(String(Number(process.hrtime.bigint() - start) / 1e6))`,
  )
}

function importOf(subject: Subject) {
  return subject.url && `await import(${JSON.stringify(subject.url())})`
}

/** Also makes an id, because the engine is loaded with the first generator and not with the import. */
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
