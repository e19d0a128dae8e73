import { blocks, type Database, statementsOf } from './document.ts'

/** The functions of the example in docs/databases.md#pages. */
interface Example {
  pageOf(query: { before?: string; after?: string }): [statement: string, id: string]
  linksOf(rows: readonly Row[]): { older: string; newer: string }
}

interface Row {
  readonly id?: unknown
}

/** The ids of pages, as text. */
interface Walk {
  /** From the newest page to the oldest. */
  readonly down: string[][]
  /** From the oldest page back to the newest. */
  readonly up: string[][]
}

/**
 * Walks through all pages of a table by the example of the document.
 *
 * @param query - Runs a statement with one parameter.
 */
export async function walk(
  database: Database,
  query: (statement: string, id: string) => Promise<Row[]> | Row[],
): Promise<Walk> {
  const { pageOf, linksOf } = await example(database)
  const pages = async (first: Row[], link: 'older' | 'newer') => {
    const all: Row[][] = []
    for (let page = first; page.length > 0 && all.length < 9; ) {
      all.push(page)
      page = await query(...pageOf(Object.fromEntries(new URLSearchParams(linksOf(page)[link]))))
    }
    return all
  }
  const textsOf = (pages: Row[][]) => pages.map((page) => page.map(({ id }) => String(id)))
  const down = await pages(await query(...pageOf({})), 'older')
  return { down: textsOf(down), up: textsOf(await pages(down.at(-1) as Row[], 'newer')) }
}

/** The walk through 50 ids in ascending order: pages of 20 rows, the newest row first. */
export function walkOf(ids: readonly bigint[]): Walk {
  const newestFirst = ids.toReversed().map(String)
  const down = [newestFirst.slice(0, 20), newestFirst.slice(20, 40), newestFirst.slice(40)]
  return { down, up: down.toReversed() }
}

async function example(database: Database): Promise<Example> {
  const code = blocks.find(({ code }) => code.includes('function pageOf'))?.code ?? ''
  for (const statement of statementsOf('Pages', database)) {
    if (!code.includes(`'${statement}'`)) throw new Error(`the example has no ${statement}`)
  }
  const [body] = code.replace(/^import .*$/m, '').split('\npageOf({})')
  const { idsBetween, isId, layouts } = await import('graupel')
  return new Function('idsBetween', 'isId', 'layouts', `${body}\nreturn { pageOf, linksOf }`)(idsBetween, isId, layouts)
}
