import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { createGenerator, decode, layouts } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { openStore } from 'graupel/stores/url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis } from '../stores/kinds/redis.ts'
import { freePort, type Server } from '../stores/servers.ts'
import { repository } from '../support/documents.ts'
import { describeWith, withMounts } from '../support/needs.ts'
import { stopProcess } from '../support/stop-process.ts'
import { until } from '../support/until.ts'
import { folderWith, linkPackages, start } from './app.ts'

// Programs of examples/ with several processes or threads, or that their host stops.

const folder = folderWith(
  ...[
    'bullmq.mjs',
    'cluster.mjs',
    'ecosystem.config.cjs',
    'express.mjs',
    'fastify.mjs',
    'lambda.mjs',
    'worker-pool.mjs',
  ],
)
beforeAll(() => linkPackages(folder), 600_000)

const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
})

const nodeOf = (id: bigint | string) => decode(id, layouts.twitter).node

/**
 * Places an order over a new connection, which the primary process gives to any worker, and returns its id.
 */
function orderAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const asked = request({
      port,
      host: '127.0.0.1',
      path: '/orders',
      method: 'POST',
      headers,
      agent: false,
      timeout: 3000,
    })
    asked.on('error', reject)
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('response', async (response) => {
      const body = (await json(response)) as { id?: string }
      const { id } = body
      if (id === undefined) reject(new Error(`it answered ${response.statusCode} ${JSON.stringify(body)}`))
      else resolve(id)
    })
    asked.end('{"item":"tea"}')
  })
}

/** Runs a program until `isEnough` accepts a line of its output, and ends the program. */
async function runUntil(program: string, variables: Record<string, string>, isEnough: (line: string) => boolean) {
  const child = spawn(process.execPath, [program], {
    cwd: folder,
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let told = ''
  child.stderr.on('data', (data) => (told += data))
  const ended = once(child, 'exit')
  let isEnding = false
  for await (const line of createInterface(child.stdout)) {
    if (!isEnough(line) || isEnding) continue
    isEnding = true
    child.kill('SIGTERM')
  }
  // A Redis that has just started makes the lease wait, which is told once.
  const others = told.replace(/^\(node:\d+\) \[GRAUPEL_LEASE_WAIT\].*\n\(Use `node .*\n/m, '')
  expect({ ended: await ended, told: others }).toEqual({ ended: [0, null], told: '' })
}

describe('an app of several processes', { concurrent: true }, () => {
  it('cluster.mjs has a node for each process, replaces a killed process, and ends all processes', async () => {
    const port = await freePort()
    const app = await start(folder, 'cluster.mjs', {
      ...{ STORE_URL: 'sqlite:cluster.db', DATABASE_FILE: 'cluster-orders.db' },
      ...{ PORT: `${port}`, PROCESSES: '2' },
    })
    const ids: string[] = []
    const nodes = () => new Set(ids.map(nodeOf)).size
    await until(async () => ids.push(await orderAt(port)) > 0 && nodes() === 2)

    process.kill(Number(/^process (\d+)$/m.exec(app.told())?.[1]), 'SIGKILL')
    await until(async () => {
      // Requests of the killed process are lost.
      const id = await orderAt(port).catch(() => undefined)
      if (id !== undefined) ids.push(id)
      return nodes() === 3
    })
    expect(new Set(ids).size).toBe(ids.length)
    // A terminal sends SIGINT to all processes.
    const [killed, ...alive] = Array.from(app.told().matchAll(/^process (\d+)$/gm), ([, id]) => Number(id))
    for (const id of alive) process.kill(id, 'SIGINT')
    app.child.kill('SIGINT')
    expect(await app.ended).toBe(0)
    const opened = await openStore(`sqlite:${join(folder, 'cluster.db')}`)
    const [group] = await opened.store.list('groups/')
    const records = await opened.store.list(`leases/${group?.key.slice('groups/'.length)}/0/`)
    await opened.close()
    // The node of the killed process is still held.
    const isHeld = ({ value }: { value: string }) => !JSON.parse(value).isReleased
    expect({ killed, held: records.filter(isHeld).length }).toEqual({ killed: expect.any(Number), held: 1 })
  })

  it('under pm2 no order is refused and no id made twice while the processes are reloaded', async ({
    onTestFinished,
  }) => {
    // A short path, because paths of sockets have to be short.
    const home = mkdtempSync(join(tmpdir(), 'graupel-pm2-'))
    const port = await freePort()
    const env = {
      ...{ ...process.env, PM2_HOME: home, PM2_DISABLE_VERSION_CHECK: 'true', PORT: `${port}` },
      ...{ STORE_URL: 'sqlite:pm2.db', DATABASE_FILE: 'pm2-orders.db' },
    }
    const pm2 = (...words: string[]) =>
      promisify(execFile)(process.execPath, ['node_modules/pm2/bin/pm2', ...words], { cwd: folder, env })
    onTestFinished(async () => {
      await pm2('kill')
      rmSync(home, { recursive: true, force: true })
    })
    await pm2('start', 'ecosystem.config.cjs')
    const ids: string[] = []
    const nodes = () => new Set(ids.map(nodeOf)).size
    // pm2 returns before the processes have ended.
    await until(() => orderAt(port).then(Boolean, () => false))
    await until(async () => ids.push(await orderAt(port)) > 0 && nodes() === 2)

    let isReloaded = false
    const customers = Array.from({ length: 4 }, async () => {
      while (!isReloaded) ids.push(await orderAt(port))
    })
    const before = ids.length
    await pm2('reload', 'shop')
    isReloaded = true
    await Promise.all(customers)
    expect(ids.length).toBeGreaterThan(before)
    await until(async () => ids.push(await orderAt(port)) > 0 && nodes() > 2)
    expect(new Set(ids).size).toBe(ids.length)
    // The processes end before kill_timeout, after which pm2 kills them.
    expect(readFileSync(join(home, 'pm2.log'), 'utf8')).not.toContain('SIGKILL')
  })

  it('worker-pool.mjs makes ids on one node in threads that end and are replaced', async () => {
    const ids: string[] = []
    const threads = new Set<string>()
    // More threads than the pool has at a time.
    const isEnough = (line: string) => {
      const [, thread, made] = /^thread (\d+): (.*)$/.exec(line) as unknown as [string, string, string]
      threads.add(thread)
      ids.push(...made.split(' '))
      return threads.size > availableParallelism() * 2
    }
    await runUntil('worker-pool.mjs', { STORE_URL: 'sqlite:pool.db' }, isEnough)
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(ids.map(nodeOf)).size).toBe(1)
  })
})

describeWith(
  ['redis', 'mounts'],
  'on Redis',
  () => {
    let redis: Server
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.stop())

    it('bullmq.mjs runs a job that was added twice only once', async () => {
      const lines: string[] = []
      const isEnough = (line: string) => lines.push(line) >= 3
      await runUntil('bullmq.mjs', { REDIS_URL: `redis://127.0.0.1:${redis.port}` }, isEnough)
      const orders = lines.map((line) => /^mail of order (\d{19})$/.exec(line)?.[1])
      expect(new Set(orders).size).toBe(lines.length)
      const { Queue } = createRequire(join(folder, 'package.json'))('bullmq')
      const queue = new Queue('mails', { connection: { host: '127.0.0.1', port: redis.port } })
      expect(await queue.getJobCountByTypes('completed')).toBe(lines.length)
      await queue.close()
    })

    it.each<NodeJS.Signals>(['SIGKILL', 'SIGSTOP'])(
      'bullmq.mjs ends on SIGTERM after %s of its server',
      async (fault) => {
        const own = await startRedis()
        const child = spawn(process.execPath, ['bullmq.mjs'], {
          cwd: folder,
          env: { ...process.env, REDIS_URL: `redis://127.0.0.1:${own.port}` },
        })
        started.push(child)
        const ended = once(child, 'close')
        let told = ''
        child.stderr.on('data', (data) => (told += data))
        await once(child.stdout, 'data')
        await own.signal(fault)
        child.kill('SIGTERM')
        expect(await ended, told).toEqual([0, null])
        await own.stop()
      },
    )

    it('BullMQ refuses some ids without a prefix, as bullmq.mjs says', async () => {
      const { Queue } = createRequire(join(folder, 'package.json'))('bullmq')
      const queue = new Queue('others', { connection: { host: '127.0.0.1', port: redis.port } })
      const add = (jobId: string) => queue.add('confirmation', {}, { jobId })
      const ids = createGenerator({ node: 7, clock: () => 1_795_000_000_000 })
        .take(4096)
        .map(String)
      const isRefused = (id: string) => String(Number(id)) === id
      const refused = ids.filter(isRefused)
      expect(refused.length / ids.length).toBeCloseTo(1 / 256, 3)
      for (const id of refused) await expect(add(id)).rejects.toThrow('Custom Id cannot be integers')
      const taken = ids.find((id) => !isRefused(id)) as string
      expect((await add(taken)).id).toBe(taken)
      await expect(add('order:7')).rejects.toThrow('Custom Id cannot contain :')
      await queue.close()
    })

    it('lambda.mjs has a new lease after an instance was frozen, without /dev/shm and on a read-only file system', async () => {
      const STORE_URL = `redis://127.0.0.1:${redis.port}`
      const [first, second] = [instance(STORE_URL), instance(STORE_URL)]
      const ids = [await first.id(), await second.id(), await first.id()]
      const frozen = nodeOf(ids[0] as string)

      await stopProcess(first.child.pid as number)
      const { store, close } = await openStore(STORE_URL)
      const lease = await acquireLease({ store, nodes: [frozen, frozen] }) // waits until its lease has ended
      first.child.kill('SIGCONT')
      ids.push(await first.id(), await second.id())
      expect(new Set(ids).size).toBe(ids.length)
      expect(nodeOf(ids[3] as string)).not.toBe(frozen)
      await lease.release()
      await close()
    })
  },
  { concurrent: true },
)

/**
 * Starts an instance of a function in an environment like AWS Lambda, which passes it one request after the
 * other.
 */
function instance(STORE_URL: string) {
  const program = `
    const { existsSync, mkdirSync } = require('node:fs')
    if (existsSync('/dev/shm')) throw new Error('there is /dev/shm')
    for (const place of ['/', '.']) try {
      mkdirSync(place + '/written')
      throw new Error(place + ' is not read-only')
    } catch (error) {
      if (error.code !== 'EROFS') throw error
    }
    import('./lambda.mjs').then(({ handler }) => {
      process.on('message', async (event) => process.send(await handler(event)))
    })`
  const surroundings = `
    mount -t tmpfs none /mnt
    for device in null urandom; do : >/mnt/$device; mount --bind /dev/$device /mnt/$device; done
    # The repository may lie in /tmp.
    mkdir /mnt/repository
    mount --rbind '${repository}' /mnt/repository
    mount --rbind /mnt /dev
    mount -t tmpfs none /tmp
    mkdir -p '${repository}'
    mount --rbind /dev/repository '${repository}'
    for place in / "$PWD"; do mount --bind "$place" "$place"; mount -o remount,bind,ro "$place"; done
    cd "$PWD"`
  const [command = '', ...words] = withMounts(surroundings, [process.execPath, '-e', program])
  const { GRAUPEL_STATE_FOLDER: _, ...inherited } = process.env
  const child = spawn(command, words, {
    cwd: folder,
    env: { ...inherited, STORE_URL },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  started.push(child)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the instance has ended with ${code}`)
  })
  ended.catch(() => {})
  return {
    child,
    async id(): Promise<string> {
      child.send({ body: Buffer.from('{"item":"tea"}').toString('base64'), isBase64Encoded: true })
      const [answer] = await Promise.race([once(child, 'message'), ended])
      expect(answer).toMatchObject({ statusCode: 201, headers: { 'content-type': 'application/json' } })
      return (JSON.parse(answer.body) as { id: string }).id
    },
  }
}
