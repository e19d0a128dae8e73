import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStore } from '../../src/stores/object.js'
import { storeContract } from '../../src/stores/testing.js'
import { expectNothingLost } from '../stores/increment.ts'
import { cephClients, cephVersion, missingCeph, startCeph } from '../stores/kinds/ceph.ts'
import { installClients, type Open } from '../stores/kinds/kind.ts'
import { s3Clients } from '../stores/kinds/object.ts'
import { repository } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'

// Ceph's radosgw, a real S3 server. Only `--mode s3` runs this file.

describeWith([missingCeph, 'setpriv'], 'Ceph radosgw', () => {
  let server: Awaited<ReturnType<typeof startCeph>>
  const closing: (() => unknown)[] = []
  beforeAll(async () => {
    installClients()
    server = await startCeph()
  })
  afterAll(async () => {
    for (const close of closing) close()
    await server?.stop()
  })

  async function openBy(clients: typeof cephClients, client: string): Promise<ObjectStore> {
    const { store, close } = await (clients[client] as Open)(server.port)
    closing.push(close)
    return store as ObjectStore
  }

  it('has the version that docs/stores/object.md names', () => {
    const document = readFileSync(join(repository, 'docs/stores/object.md'), 'utf8')
    expect(document).toContain(`| Ceph radosgw ${cephVersion()} |`)
  })

  it.each(Object.keys(s3Clients))(
    'is refused by %s, because it refuses the quotes of its own ETags',
    async (client) => {
      const store = await openBy(s3Clients, client)
      const refused = {
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/refused to write an object by its ETag, .* refuses quoted ETags, as Ceph does/),
      }
      await expect(store.prove()).rejects.toMatchObject(refused)
      await expect(store.write('refused/1', 'x', undefined)).rejects.toMatchObject(refused)
      expect(await store.read('refused/1')).toBeUndefined()
    },
  )

  describe.each(Object.entries(cephClients))('by %s without the quotes', (client, open) => {
    let store: ObjectStore
    beforeAll(async () => {
      store = await openBy(cephClients, client)
    })

    it('enforces conditions', () => store.prove())

    // Without `remove`, because it ignores the condition of a delete.
    const kept = async () => ({ ...store, remove: undefined as never })
    const contested = 'lets only one of many writes land if all expect the same version'
    for (const { name, run } of storeContract(kept)) if (name !== contested) it(name, run)

    // The contract asks for refusals alone. Leases and counters read the record after both answers.
    it(`${contested}, and answers 412 or 500 to the others`, async () => {
      const key = `contested/${crypto.randomUUID()}`
      let expected: string | undefined
      for (let round = 0; round < 20; round++) {
        const values = Array.from({ length: 16 }, (_, i) => `${round} ${i}`)
        const ends = await Promise.allSettled(values.map((value) => store.write(key, value, expected)))
        const failed = ends.filter((end) => end.status === 'rejected')
        for (const { reason } of failed) expect(reason.message).toMatch(/answered 500 ?.*: UnknownError/)
        const landed = values.filter((_, i) => (ends[i] as PromiseFulfilledResult<unknown>).value !== undefined)
        const found = await store.read(key)
        expect([found?.value]).toEqual(landed)
        expected = found?.version
      }
    })

    it('removes nothing, because it deletes without conditions', async () => {
      const key = `removed/${client}`
      const version = (await store.write(key, 'x', undefined)) as string
      await expect(store.remove(key, version)).rejects.toMatchObject({
        code: 'ERR_STORE_UNSAFE',
        message: expect.stringContaining('deletes objects without conditions'),
      })
      expect(await store.read(key)).toMatchObject({ version })
    })

    it('loses no addition of eight processes that count at once', () =>
      expectNothingLost(['ceph', client, `${server.port}`], () => open(server.port), { processes: 8 }))

    it('gives each of sixteen processes that begin at once a node of its own', async () => {
      const namespace = freshNamespace()
      const program = join(repository, 'test/stores/programs/leased.ts')
      const words = ['--import', 'tsx', program, client, `${server.port}`, namespace]
      const children = Array.from({ length: 16 }, () =>
        spawn(process.execPath, words, { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] }),
      )
      closing.push(...children.map((child) => () => child.kill('SIGKILL')))
      const ends = children.map((child) => once(child, 'exit'))
      const lines = children.map(({ stdout }) => createInterface(stdout)[Symbol.asyncIterator]())
      await Promise.all(lines.map((line) => line.next()))
      for (const child of children) child.stdin.write('go\n')
      const said = await Promise.all(lines.map(async (line) => JSON.parse((await line.next()).value)))
      // All processes hold their nodes.
      for (const child of children) child.stdin.end()
      for (const end of ends) expect(await end).toEqual([0, null])
      expect(new Set(said.map(({ node }) => node)).size).toBe(16)
      expect(new Set(said.flatMap(({ ids }) => ids)).size).toBe(16_000)
    })
  })
})
