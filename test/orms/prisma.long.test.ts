import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode, layouts } from 'graupel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installOnce } from '../package/consumer.ts'
import { repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { type Databases, openPostgres } from './databases.ts'
import { examples, generateClient, makeProject, type Project } from './project.ts'

describeWith(['postgres'], 'Prisma', () => {
  let project: Project
  let databases: Databases
  beforeAll(async () => {
    const installed = installOnce('test/orms/prisma', ['--ignore-scripts'])
    project = makeProject(installed, join(examples, 'prisma'))
    generateClient(project.folder)
    databases = await openPostgres()
  }, 600_000)
  afterAll(async () => {
    project?.remove()
    await databases?.stop()
  })

  it('the example is right in its types', () => {
    copyFileSync(join(repository, 'test/orms/traps/prisma-types.ts'), join(project.folder, 'prisma-types.ts'))
    expect(project.types()).toBe('')
  })

  it('main.ts writes the id that it prints', async () => {
    const { url, rows } = await databases.create('shop')
    const order = await project.run('main.ts', { DATABASE_URL: url })
    const written = await rows('SELECT id::text AS id, item FROM orders ORDER BY id')
    expect(written[0]).toEqual(order)
    expect(written.map(({ item }) => item)).toEqual(['tea', 'milk', 'sugar', 'cake'])
    expect(written.map(({ id }) => decode(BigInt(id as string), layouts.twitter).node)).toEqual([7, 7, 7, 7])
  })

  it('injected.ts writes ids of the generators that it passes', async () => {
    const { url, rows } = await databases.create('injected')
    const order = await project.run('injected.ts', { DATABASE_URL: url })
    const written = await rows('SELECT id::text AS id, item FROM orders ORDER BY item DESC')
    expect(written.map(({ item }) => item)).toEqual(['tea', 'milk', 'cake'])
    expect(written[0]).toEqual(order)
    expect(written.map(({ id }) => decode(BigInt(id as string), layouts.twitter).node)).toEqual([7, 7, 0])
  })

  it('the traps of prisma.ts are as the document says', async () => {
    const { url } = await databases.create('traps')
    copyFileSync(join(repository, 'test/orms/traps/prisma.ts'), join(project.folder, 'traps.ts'))
    expect(await project.run('traps.ts', { DATABASE_URL: url })).toBe(true)
  })
})
