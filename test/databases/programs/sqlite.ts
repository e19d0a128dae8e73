import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import { createGenerator } from 'graupel'
import { load } from '../../stores/kinds/kind.ts'
import { statementsOf } from '../document.ts'
import { id, idsWithTimes, nameOf, pair } from '../facts.ts'
import { walk, walkOf } from '../pages.ts'

// Prints as JSON what a driver of SQLite does with ids. It is a program of its own, because node:sqlite needs
// another Node.
//
//   node --import tsx test/databases/programs/sqlite.ts better-sqlite3|libsql|node:sqlite

const name = process.argv[2] as 'better-sqlite3' | 'libsql' | 'node:sqlite'

/** Opens a database with the defaults, or with the setting of the document. */
function open(isSet: boolean) {
  if (name === 'node:sqlite') {
    const { DatabaseSync } = createRequire(import.meta.url)(name)
    return new DatabaseSync(':memory:', { readBigInts: isSet })
  }
  const database = new (load(name, name === 'libsql' ? 'clients' : name))(':memory:')
  if (isSet) database.defaultSafeIntegers()
  return database
}

/** Returns the result of a call, or its error. */
function outcome(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    const { code, name } = error as Error & { code?: string }
    return `throws ${code ?? name}`
  }
}

const columns = 'id INTEGER PRIMARY KEY, other BIGINT'
const insert = 'INSERT INTO ids (id) VALUES (?)'
const exact = 'SELECT CAST(id AS TEXT) AS id FROM ids'

/** Makes a table with one row, and passes its id to the driver as given. */
function withId(value: unknown, isSet = false) {
  const database = open(isSet)
  database.exec(`CREATE TABLE ids (${columns})`)
  const { lastInsertRowid } = database.prepare(insert).run(value)
  return { database, lastInsertRowid }
}

const stored = (value: unknown) => withId(value).database.prepare(exact).get().id
const found = (value: unknown) => withId(id).database.prepare(`${exact} WHERE id = ?`).all(value).length
const read = (isSet: boolean) =>
  outcome(() => nameOf(withId(id, isSet).database.prepare('SELECT id FROM ids').get().id))

const { database } = withId(7n)
database.exec(`CREATE TABLE strict (id INTEGER PRIMARY KEY, other INTEGER) STRICT; CREATE TABLE small (id INT)`)
const put = (table: string, column: string, value: unknown) =>
  outcome(() => {
    database.prepare(`INSERT INTO ${table} (${column}) VALUES (?)`).run(value)
    const [row] = database
      .prepare(`SELECT typeof(${column}) AS type, CAST(${column} AS TEXT) AS text FROM ${table} ORDER BY rowid DESC`)
      .all()
    return `${row.type} ${row.text}`
  })

for (const statement of statementsOf('Text columns', 'SQLite')) database.exec(statement)
database.exec('CREATE TABLE careless (id TEXT PRIMARY KEY COLLATE NOCASE)')
const both = (table: string) =>
  outcome(() => database.prepare(`INSERT INTO ${table} VALUES (?), (?)`).run(...pair).changes)

const [timeStatement = ''] = statementsOf('The time in SQL', 'SQLite')
database.exec('CREATE TABLE orders (id INTEGER, item TEXT)')
const add = database.prepare('INSERT INTO orders (id) VALUES (?)')
for (const id of idsWithTimes.keys()) add.run(id)
const told = database.prepare(timeStatement.replace('SELECT id,', 'SELECT CAST(id AS TEXT) AS text,')).all()
const wrong = told.filter(
  ({ text, made }: Record<string, string>) => idsWithTimes.get(BigInt(text as string))?.toISOString() !== made,
)
const times = { count: told.length, wrong: wrong.length }

database.exec('DROP TABLE orders; CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT)')
const paged = createGenerator({ node: 7 }).take(50)
const addTo = database.prepare('INSERT INTO orders (id) VALUES (?)')
for (const id of paged) addTo.run(id)
const page = (statement: string, id: string) =>
  database.prepare(statement.replace('SELECT id,', 'SELECT CAST(id AS TEXT) AS id,')).all(id)
const walked = await walk('SQLite', page)
const plan = (statement: string) =>
  database
    .prepare(`EXPLAIN QUERY PLAN ${statement.replaceAll('?', '5')}`)
    .all()
    .map(({ detail }: { detail: string }) => detail)
const indexes = (type: string) => {
  database.exec(`DROP TABLE IF EXISTS keyed; CREATE TABLE keyed (id ${type} PRIMARY KEY)`)
  return database
    .prepare(`SELECT COUNT(*) AS count FROM sqlite_master WHERE type = 'index' AND tbl_name = 'keyed'`)
    .get().count
}

console.log(
  JSON.stringify({
    stored: [id, `${id}`].map(stored),
    found: [id, `${id}`].map(found),
    storedNumber: stored(Number(id)),
    byDefault: read(false),
    withSetting: read(true),
    count: typeof withId(id, true).database.prepare('SELECT COUNT(*) AS count FROM ids').get().count,
    rowids: [false, true].map((isSet) => nameOf(withId(id, isSet).lastInsertRowid)),
    columnsOfRow: Object.keys(withId(7n).database.prepare('SELECT id FROM ids').get()),
    small: outcome(() => withId(7n).database.prepare('SELECT id FROM ids').get().id),
    foundByDigits: withId(7n).database.prepare(`${exact} WHERE id = ?`).all('7abc').length,
    unsigned: {
      bigint: put('ids', 'other', 2n ** 63n),
      text: put('ids', 'other', `${2n ** 63n}`),
      key: put('ids', 'id', `${2n ** 63n}`),
      strict: put('strict', 'other', `${2n ** 63n}`),
    },
    int: put('small', 'id', id),
    links: both('links'),
    careless: both('careless'),
    times,
    indexes: ['INTEGER', 'BIGINT'].map(indexes),
    // Runs last, because libsql keeps a table locked after EXPLAIN.
    pages: isDeepStrictEqual(walked, walkOf(paged)),
    plans: statementsOf('Ranges of time', 'SQLite').map(plan),
    pagePlans: statementsOf('Pages', 'SQLite').map(plan),
    planByTime: plan(`SELECT * FROM (${timeStatement}) WHERE made > '2026'`),
  }),
)
