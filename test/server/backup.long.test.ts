import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf } from '../support/documents.ts'
import { describeWith } from '../support/needs.ts'
import { folder, type Serving, serve } from './support/process.ts'

// Does what docs/service-operations.md says under "Backup and restore".

const [backupCommand = ''] = blocksOf('docs/service-operations.md')
  .filter(({ language, code }) => language === 'console' && code.includes('.backup'))
  .map(({ code }) => code.trim().slice('$ '.length))

/** Runs the command of the document for a folder. */
function backUp(data: string, file: string): void {
  const command = backupCommand
    .replace('/var/lib/graupel-server/graupel.db', join(data, 'graupel.db'))
    .replace('/var/backups/graupel.db', file)
  execFileSync('bash', ['-c', command])
}

async function take(url: string, path: string): Promise<number[]> {
  const { numbers, counts } = (await (await fetch(`${url}${path}`)).json()) as Record<string, string[]>
  return (numbers ?? counts ?? []).map(Number)
}

const takeOrders = ({ url }: Serving, count: number) => take(url, `/v1/segments/orders?count=${count}`)
const takeInvoices = ({ url }: Serving, count: number) => take(url, `/v1/counters/invoices?count=${count}`)

async function kill({ child, ended }: Serving): Promise<void> {
  child.kill('SIGKILL')
  await ended
}

describeWith(['sqlite3'], 'a backup of the embedded database', () => {
  test('that was made under load gives numbers again, unless start is set and counts are thrown away', async () => {
    expect(backupCommand).toMatch(/^sqlite3 /)
    const data = join(folder, 'original')
    const backup = join(folder, 'backup.db')
    const first = await serve(['--data', data])
    const given = { orders: await takeOrders(first, 900), invoices: await takeInvoices(first, 40) }
    // The counter writes with each request, while the backup is made.
    let isOver = false
    const load = (async () => {
      while (!isOver) given.invoices.push(...(await takeInvoices(first, 1)))
    })()
    backUp(data, backup)
    isOver = true
    await load
    given.orders.push(...(await takeOrders(first, 5000)))
    given.invoices.push(...(await takeInvoices(first, 60)))
    await kill(first)
    const last = { order: Math.max(...given.orders), invoice: Math.max(...given.invoices) }

    const restored = (name: string) => {
      const place = join(folder, name)
      cpSync(data, place, { recursive: true })
      copyFileSync(backup, join(place, 'graupel.db'))
      expect(existsSync(join(place, 'graupel.db-journal'))).toBe(false)
      return place
    }
    const careless = await serve(['--data', restored('careless')])
    expect((await takeOrders(careless, 10)).every((number) => given.orders.includes(number))).toBe(true)
    expect(given.invoices).toContain((await takeInvoices(careless, 1))[0])
    await kill(careless)

    const place = restored('careful')
    const config = join(place, 'config.json')
    writeFileSync(config, JSON.stringify({ segments: { orders: { start: last.order + 1 } } }))
    const careful = await serve(['--data', place, '--config', config])
    const [next = 0] = await takeInvoices(careful, 1)
    expect(next).toBeLessThanOrEqual(last.invoice)
    expect((await takeInvoices(careful, last.invoice - next)).at(-1)).toBe(last.invoice)
    expect(await takeInvoices(careful, 2)).toEqual([last.invoice + 1, last.invoice + 2])
    const orders = await takeOrders(careful, 3)
    expect(orders).toEqual([1, 2, 3].map((more) => last.order + more))
    await kill(careful)
    // The start may stay.
    const later = await serve(['--data', place, '--config', config])
    expect((await takeOrders(later, 1))[0]).toBeGreaterThan(orders.at(-1) as number)
  })

  test('is lost: numbers begin above start, and a start of a counter that has a record is refused', async () => {
    const place = join(folder, 'lost')
    mkdirSync(place)
    const config = join(place, 'config.json')
    writeFileSync(config, JSON.stringify({ segments: { orders: { start: 5000 } } }))
    const anew = await serve(['--data', place, '--config', config])
    expect(await takeOrders(anew, 1)).toEqual([5000])
    expect(await takeInvoices(anew, 4096)).toHaveLength(4096)
    expect(await takeInvoices(anew, 1)).toEqual([4097])
    await kill(anew)
    writeFileSync(config, JSON.stringify({ counters: { invoices: { start: 9000 } } }))
    const { url } = await serve(['--data', place, '--config', config])
    const answer = await fetch(`${url}/v1/counters/invoices`)
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'ERR_STATE_MISMATCH' }])
  })
})
