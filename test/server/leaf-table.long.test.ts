import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { database, mysqlPools, startMysql } from '../stores/kinds/mysql.ts'
import { type Admin, makeLeafTable } from '../stores/mysql-admin.ts'
import type { Server } from '../stores/servers.ts'
import { repository } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'
import { serve } from './support/process.ts'

// The service on the table of Leaf, replacing Leaf and running beside it.

let server: Server
let admin: Admin
let flags: string[]

const makeRow = (tag: string, maxId: number, step: number) =>
  admin.query(`INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('${tag}', ${maxId}, ${step})`)

async function maxIdOf(tag: string): Promise<number> {
  const [[row]] = await admin.query(`SELECT max_id FROM leaf_alloc WHERE biz_tag = '${tag}'`)
  return Number(row?.['max_id'])
}

/** A process that takes segments by the statements of Leaf. */
async function startLeaf(tag: string) {
  const words = ['--import', 'tsx', join(repository, 'test/stores/programs/leaf-segments.ts')]
  const child = spawn(process.execPath, [...words, 'leaf', `${server.port}`, tag], {
    cwd: repository,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const numbers: number[] = []
  let isReady = false
  const lines = createInterface(child.stdout).on('line', (line) => {
    if (line === 'ready') isReady = true
    else {
      const [first = 0, count] = line.split(' ').map(Number)
      for (let i = 0; i < (count as number); i++) numbers.push(first + i)
    }
  })
  await until(() => isReady)
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  return {
    numbers,
    begin: () => child.stdin.write('go\n'),
    async end() {
      child.stdin.end()
      await ended
    },
  }
}

/** Asks as a client of Leaf does. Resolves to `undefined` if no number is left. */
async function ask(url: string, tag: string): Promise<number | undefined> {
  const answer = await fetch(`${url}/api/segment/get/${tag}`)
  const body = await answer.text()
  if (answer.status === 200) return Number(body)
  expect(JSON.parse(body)).toMatchObject({ status: 500, message: 'Result{id=-3, status=EXCEPTION}' })
  return undefined
}

const expectDistinct = (numbers: number[]) => expect(new Set(numbers).size).toBe(numbers.length)

describeWith(['mysql'], "a service on Leaf's table", () => {
  beforeAll(async () => {
    server = await startMysql()
    admin = mysqlPools.mysql2(server.port) as never
    await makeLeafTable(admin)
    flags = ['--store', `mysql://root@127.0.0.1:${server.port}/${database}`, '--assume-durable', '--leaf-alloc']
  })
  afterAll(async () => {
    await admin?.end()
    await server?.stop()
  })

  it('continues after Leaf, by the step of the row', async () => {
    await makeRow('stopped', 2001, 100)
    const { url } = await serve(flags)
    expect(await ask(url, 'stopped')).toBe(2001)
    expect(await ask(url, 'stopped')).toBe(2002)
    expect(await maxIdOf('stopped')).toBe(2101)
    const { numbers } = (await (await fetch(`${url}/v1/segments/stopped`)).json()) as { numbers: string[] }
    expect(numbers).toEqual(['2003'])
  })

  it('knows only the rows of the table, and finds a later row without a restart', async () => {
    const { url } = await serve(flags)
    const refused = await fetch(`${url}/api/segment/get/later`)
    expect(await refused.json()).toMatchObject({ status: 500, message: 'Result{id=-2, status=EXCEPTION}' })
    const problem = await fetch(`${url}/v1/segments/later`)
    expect(problem.status).toBe(404)
    expect(await problem.text()).not.toMatch(/INSERT|leaf_alloc/)
    await makeRow('later', 1, 10)
    // The collation of the column ignores case.
    const upper = await fetch(`${url}/api/segment/get/LATER`)
    expect(await upper.json()).toMatchObject({ status: 500, message: 'Result{id=-2, status=EXCEPTION}' })
    expect(await ask(url, 'later')).toBe(1)
  })

  it('never gives a number that Leaf gives, even if the database is killed', async () => {
    await makeRow('beside', 1, 20)
    const leaf = await startLeaf('beside')
    const services = [await serve(flags), await serve(flags)]
    const numbers = services.map((): number[] => [])
    let refused = 0
    let isEnding = false
    const asking = services.map(async ({ url }, i) => {
      while (!isEnding) {
        const number = await ask(url, 'beside')
        if (number === undefined) refused++
        else numbers[i]?.push(number)
      }
    })
    const haveMore = async (more: number) => {
      const counts = numbers.map((own) => own.length + more)
      await until(() => numbers.every((own, i) => own.length >= (counts[i] as number)))
    }
    leaf.begin()
    await haveMore(100)
    await until(() => leaf.numbers.length >= 100)
    // Leaf stops, as it does after its clients have moved, and the database is away for a while.
    await leaf.end()
    await server.signal('SIGKILL')
    await until(() => refused > 0)
    await server.restart()
    await haveMore(100)
    isEnding = true
    await Promise.all(asking)
    for (const own of numbers) expect(own).toEqual(own.toSorted((a, b) => a - b))
    expectDistinct([...leaf.numbers, ...numbers.flat()])
  })
})
