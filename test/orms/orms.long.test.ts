import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installOnce } from '../package/consumer.ts'
import { load } from '../stores/kinds/kind.ts'
import { read, repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { type Databases, openMysql, openPostgres } from './databases.ts'
import { blocks, exampleFiles, exampleOf } from './documented.ts'
import { openMongoWire } from './mongo-wire.ts'
import { examples, makeProject, type Project } from './project.ts'

let installed: string
let project: Project
let traps: Project
beforeAll(() => {
  installed = installOnce('test/orms/packages', ['--ignore-scripts'])
  // Installs the drivers, one of which may have to be compiled.
  for (const [name, place] of [
    ['pg', 'clients'],
    ['mysql2', 'clients'],
    ['better-sqlite3', 'better-sqlite3'],
  ] as const) {
    load(name, place)
    const link = join(installed, name)
    if (!existsSync(link)) symlinkSync(join(repository, 'test/stores', place, 'node_modules', name), link)
  }
  project = makeProject(installed, examples)
  traps = makeProject(installed, join(repository, 'test/orms/traps'))
}, 600_000)
afterAll(() => {
  project?.remove()
  traps?.remove()
})

describe('docs/orms.md', () => {
  it('has only parts of examples, and blocks that run here', () => {
    expect(new Set(blocks.map(({ language }) => language))).toEqual(new Set(['js', 'text', 'ts']))
    const shown = blocks.filter(({ language }) => language !== 'js')
    expect(shown.filter((block) => exampleOf(block) === undefined).map(({ line }) => line)).toEqual([])
    expect(new Set(shown.map(exampleOf))).toEqual(new Set(exampleFiles))
  })

  it.each(blocks.filter(({ language }) => language === 'js'))(
    'line $line has the result in its comment',
    async ({ code }) => {
      writeFileSync(join(project.folder, 'block.ts'), `${code}\nconsole.log('true')`)
      expect(await project.run('block.ts', {})).toBe(true)
    },
  )

  it('names every example, and the versions that run here', () => {
    const text = read('docs/orms.md')
    const linked = [...text.matchAll(/\(\.\.\/examples\/orms\/([^)]+)\)/g)].map(([, name]) => name)
    expect(new Set(linked)).toEqual(new Set(exampleFiles.filter((name) => name.endsWith('.ts'))))
    const rows = [...text.matchAll(/^\| ([@a-z/, -]+) \| ([\d.]+)[^|]* \|$/gm)].flatMap(([, names = '', version]) =>
      names.split(', ').map((name) => [name, version]),
    )
    const here = ['packages', 'prisma'].flatMap((place) =>
      Object.entries(JSON.parse(read(`test/orms/${place}/package.json`)).dependencies),
    )
    const besides = ['@types/better-sqlite3', '@types/pg', 'reflect-metadata']
    expect(rows.toSorted()).toEqual(here.filter(([name]) => !besides.includes(name as string)).toSorted())
  })
})

it('the examples are right in their types', () => {
  // Programs that the compiler has to refuse; a @ts-expect-error without an error is an error.
  for (const name of ['drizzle-types.ts', 'kysely-types.ts']) {
    copyFileSync(join(repository, 'test/orms/traps', name), join(project.folder, name))
  }
  expect(project.types()).toBe('')
})

describeWith(['postgres'], 'on PostgreSQL', () => {
  let databases: Databases
  beforeAll(async () => {
    databases = await openPostgres()
  })
  afterAll(() => databases?.stop())

  it.each(['drizzle-postgres', 'typeorm', 'knex', 'kysely-postgres', 'sequelize', 'mikro-orm'])(
    '%s.ts writes the id that it says',
    async (name) => {
      const { url, rows } = await databases.create(name.replace('-', '_'))
      const order = await project.run(`${name}.ts`, { DATABASE_URL: url })
      expect(await rows('SELECT id::text AS id, item FROM orders')).toEqual([order])
    },
  )

  it('typeorm-subscriber.ts gives ids to plain objects', async () => {
    const { url, rows } = await databases.create('subscriber')
    const order = await project.run('typeorm-subscriber.ts', { DATABASE_URL: url })
    const written = await rows('SELECT id::text AS id, item FROM orders ORDER BY id')
    expect(written[0]).toEqual(order)
    expect(written.map(({ item }) => item)).toEqual(['tea', 'milk', 'sugar'])
  })

  it.each(['drizzle', 'postgres', 'typeorm', 'mikro-orm'])(
    'the traps of %s.ts are as the document says',
    async (name) => {
      const { url } = await databases.create(`traps_${name.replace('-', '_')}`)
      expect(await traps.run(`${name}.ts`, { DATABASE_URL: url })).toBe(true)
    },
  )
})

describeWith(['mysql'], 'on MariaDB', () => {
  let databases: Databases
  beforeAll(async () => {
    databases = await openMysql()
  })
  afterAll(() => databases?.stop())

  it.each(['drizzle-mysql', 'typeorm', 'knex', 'kysely-mysql', 'sequelize'])(
    '%s.ts writes the id that it says',
    async (name) => {
      const { url, rows } = await databases.create(name.replace('-', '_'))
      const order = await project.run(`${name}.ts`, { DATABASE_TYPE: 'mysql', DATABASE_URL: url, MYSQL_URL: url })
      expect(await rows('SELECT CAST(id AS CHAR) AS id, item FROM orders')).toEqual([order])
    },
  )

  it('the traps of mysql.ts are as the document says', async () => {
    const { url } = await databases.create('traps')
    expect(await traps.run('mysql.ts', { MYSQL_URL: url })).toBe(true)
  })
})

describe('on SQLite', () => {
  it('drizzle-sqlite.ts writes the id that it prints', async () => {
    const file = join(project.folder, 'orders.db')
    const order = await project.run('drizzle-sqlite.ts', { SQLITE_FILE: file })
    const database = new (load('better-sqlite3', 'better-sqlite3'))(file)
    expect(database.prepare('SELECT CAST(id AS TEXT) AS id, item FROM orders').all()).toEqual([order])
    database.close()
  })

  it.each(['drizzle-sqlite', 'sqlite'])('the traps of %s.ts are as the document says', async (name) => {
    expect(await traps.run(`${name}.ts`, {})).toBe(true)
  })
})

describe('for MongoDB', () => {
  it('mongoose.ts sends the id that it prints as a 64-bit integer', async () => {
    const bson = createRequire(join(installed, 'mongoose/package.json'))('bson')
    const mongo = await openMongoWire(bson)
    const order = await project.run('mongoose.ts', { MONGODB_URL: mongo.url })
    mongo.stop()
    const [document, ...others] = mongo.documents as [Buffer]
    expect(others).toEqual([])
    const int64 = 0x12
    expect(document.indexOf(Buffer.from([int64, ...Buffer.from('_id\0')]))).toBeGreaterThan(0)
    const { _id, item } = bson.deserialize(document, { useBigInt64: true })
    expect({ id: String(_id), item }).toEqual(order)
  })

  it('mongoose-numbers.ts sends the numbers that the store counts', async () => {
    const bson = createRequire(join(installed, 'mongoose/package.json'))('bson')
    const mongo = await openMongoWire(bson)
    const store = join(project.folder, 'numbers.db')
    const order = await project.run('mongoose-numbers.ts', { MONGODB_URL: mongo.url, STORE_URL: `sqlite:${store}` })
    mongo.stop()
    const sent = mongo.documents.map((document) => bson.deserialize(document))
    expect(sent.map(({ item, number }) => [item, number])).toEqual([
      ['tea', 1],
      ['milk', 2],
      ['sugar', 3],
    ])
    expect(order).toMatchObject({ item: 'tea', number: 1 })
  })

  it('the traps of mongoose.ts are as the document says', async () => {
    expect(await traps.run('mongoose.ts', {})).toBe(true)
  })
})
