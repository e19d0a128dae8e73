import { afterAll, beforeAll, expect, it } from 'vitest'
import { objectStore } from '../../src/stores/object.js'
import { load } from './kinds/kind.ts'
import { azure, azuriteConnection, containerOf } from './kinds/object.ts'
import type { Server } from './servers.ts'

// The answers of azurite, the emulator of Azure Blob Storage, to mistakes, by the real client.

let server: Server
beforeAll(async () => {
  server = await azure.start()
}, 600_000)
afterAll(() => server?.stop())

/** Opens the container by a shared access signature. */
async function signed(permissions: string, inMs = 60_000) {
  const { ContainerClient, ContainerSASPermissions } = load('@azure/storage-blob')
  const url: string = await containerOf(server.port).generateSasUrl({
    permissions: ContainerSASPermissions.parse(permissions),
    expiresOn: new Date(Date.now() + inMs),
  })
  return { store: objectStore({ client: new ContainerClient(url) }), signature: new URL(url).search }
}

it('says that a container is missing', async () => {
  const store = objectStore({ client: containerOf(server.port, 'none') })
  for (const call of [store.read('a/1'), store.list('a/'), store.write('a/1', 'x', undefined)]) {
    await expect(call).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(
        /answered 404 when .*ContainerNotFound.*; create the bucket, or correct its name$/,
      ),
    })
  }
})

it('says that a key is wrong', async () => {
  const { BlobServiceClient } = load('@azure/storage-blob')
  const connection = azuriteConnection(server.port).replace('AccountKey=E', 'AccountKey=F')
  const client = BlobServiceClient.fromConnectionString(connection).getContainerClient('ids')
  await expect(objectStore({ client }).read('a/1')).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringMatching(/answered 403 when .*; check the credentials$/),
  })
})

it.each<[string, string, (store: ReturnType<typeof objectStore>) => Promise<unknown>]>([
  ['read', 'wl', (store) => store.read('a/1')],
  ['list', 'rw', (store) => store.list('a/')],
  ['write', 'rl', (store) => store.write('a/1', 'x', undefined)],
  ['delete', 'rwl', (store) => store.write('a/1', 'x', undefined)],
])('says that the right to %s is missing', async (asked, permissions, call) => {
  const { store } = await signed(permissions)
  await expect(call(store)).rejects.toMatchObject({
    code: 'ERR_STORE_UNAVAILABLE',
    message: expect.stringMatching(new RegExp(`answered 403 when it was asked to ${asked} .*; grant the rights`)),
  })
})

it('works with the four rights, and shows no signature', async () => {
  const { store, signature } = await signed('rwdl')
  const version = (await store.write('rights/1', 'x', undefined)) as string
  expect(await store.list('rights/')).toHaveLength(1)
  expect(await store.remove('rights/1', version)).toBe(true)
  expect(await store.place?.()).not.toContain(signature.slice(1))
  expect(await store.advice?.()).toHaveLength(1)
})

it('says that a signature has expired', async () => {
  const { store, signature } = await signed('rwdl', -60_000)
  const error: Error = await store.read('a/1').then(
    () => new Error('it was read'),
    (refused) => refused,
  )
  expect(error.message).toMatch(/answered 403 when .*; (renew|check) the credentials/)
  expect(error.message).not.toContain(signature.slice(1))
})
