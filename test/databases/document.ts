import { type Block, blocksOf, read } from '../support/documents.ts'

// Reads docs/databases.md for the tests that check it.

const file = 'docs/databases.md'
export const text = read(file)
export const blocks = blocksOf(file)

/** Returns the examples that import a package, each with its place in the document. */
export function examplesOf(driver: string): Block[] {
  return blocks.filter(({ language, code }) => language === 'js' && code.includes(`from '${driver}'`))
}

/** Returns a cell as plain text: without the targets of links, and without marks of code and emphasis. */
function plain(cell: string): string {
  return cell.replaceAll(/\[(.*?)\]\(.*?\)/g, '$1').replaceAll(/`|\*\*/g, '')
}

/** Returns the rows of the table whose head begins with `head`, by their first cells. */
export function tableOf(head: string): Map<string, string[]> {
  const [, body] = text.split(`\n| ${head}`)
  if (body === undefined) throw new Error(`${file} has no table with the head '${head}'`)
  const [table = ''] = body.split('\n\n')
  const rows = table.split('\n').slice(2)
  return new Map(
    rows.map((row) => {
      const [first = '', ...rest] = row.slice(2, -2).split(' | ').map(plain)
      return [first, rest]
    }),
  )
}

export type Database = 'PostgreSQL' | 'MySQL, MariaDB' | 'SQLite'

/** The sections that have a block with statements of SQL. */
export const sectionsOfSql = [
  'UUID columns',
  'Text columns',
  'Ranges of time',
  'Pages',
  'The time in SQL',
  'Backfill',
  'Partitions',
] as const

/**
 * Returns the statements of a section for a database: the lines below its name, and the lines above all
 * names. An indented line, and the `$$` that ends a function, belong to the statement above.
 */
export function statementsOf(section: (typeof sectionsOfSql)[number], database: Database): string[] {
  const [, body = ''] = text.split(`\n## ${section}\n`)
  const code = [...(body.split('\n## ')[0] as string).matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  const statements: string[] = []
  let isMeant = true
  for (const line of code.join('').trimEnd().split('\n')) {
    if (line.startsWith('-- ')) isMeant = line.slice(3).split(':')[0] === database
    else if (isMeant && /^( |\$\$$)/.test(line)) statements.push(`${statements.pop()}\n${line}`)
    else if (isMeant) statements.push(line)
  }
  if (statements.length === 0) throw new Error(`${file} has no statement for ${database} in '${section}'`)
  return statements
}
