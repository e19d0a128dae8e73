import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Written } from '../../src/stores/calls.js'
import type { Store } from '../../src/stores/store.js'
import { eventually } from '../support/until.ts'
import { describeServers } from './kinds/describe.ts'
import type { Opened } from './kinds/kind.ts'
import { type LossyProxy, startProxy } from './proxy.ts'
import { callsOf } from './real-time.ts'

// Writes whose reply is lost, is late, or never comes, by each client with its defaults.

describeServers(
  'a write and its reply',
  (_, { clients, resending = [], recovers, isFetched, staysOpen, onWire = String, isElsewhere }, server) => {
    describe.skipIf(isElsewhere).each(Object.entries(clients))('by %s', (client, open) => {
      let proxy: LossyProxy
      let opened: Opened
      let store: Store
      let key: string
      let first: string

      beforeEach(async () => {
        proxy = await startProxy(server().port)
        opened = await open(proxy.port)
        store = opened.store
        await opened.store.setup?.()
        key = `numbers/${crypto.randomUUID()}`
        first = (await store.write(key, 'first', undefined)) as string
      })
      afterEach(async () => {
        await opened?.close()
        proxy?.close()
      })

      async function expectLanded(written: Written, value: string): Promise<void> {
        const found = await eventually(() => store.read(key))
        expect(found?.value).toBe(value)
        expect(written).toEqual({ landed: true, version: found?.version })
      }

      // StoreCalls exists because the client's answer does not prove whether the write landed.
      it('a write whose reply is cut off rejects, conflicts with itself, or is answered again', async () => {
        proxy.cutReplyTo(onWire('cut me off'))
        const outcome = await store.write(key, 'cut me off', first).then(
          (version) => (version === undefined ? 'a conflict' : 'the answer'),
          () => 'an error',
        )
        expect(outcome).toBe(resending.includes(client) ? 'a conflict' : recovers ? 'the answer' : 'an error')
        expect(proxy.cuts).toBe(1)
        expect((await eventually(() => store.read(key)))?.value).toBe('cut me off')
      })

      it('a write whose reply is cut off is found to have landed', async () => {
        proxy.cutReplyTo(onWire('cut me off'))
        const written = await callsOf(store).write(key, 'cut me off', first, 30_000)
        expect(proxy.cuts).toBe(1)
        await expectLanded(written, 'cut me off')
      })

      it('a call that is never answered ends with its deadline', async () => {
        const release = proxy.hold()
        const calls = callsOf(store, 300)
        await expect(calls.read(key)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
        await expect(calls.write(key, 'x', first, 1000)).rejects.toMatchObject({
          code: 'ERR_STORE_UNAVAILABLE',
          message: expect.stringContaining('may or may not have written'),
        })
        release()
        await eventually(() => store.read(key))
      })

      it('a write that is held up, and lands beside its second attempt, lands once', async () => {
        const release = proxy.hold()
        const calls = callsOf(store, 300)
        const writing = calls.write(key, 'late', first, 30_000)
        await expect(calls.read(key)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
        release()
        await expectLanded(await writing, 'late')
      })

      it('calls reject while the server is down, and succeed after it has restarted', async () => {
        await server().signal('SIGKILL')
        await expect(callsOf(store, 500).read(key)).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
        await server().restart()
        expect((await eventually(() => callsOf(store).read(key)))?.value).toBe('first')
      })

      it.skipIf(isFetched || staysOpen)('calls of a closed client reject', async () => {
        await opened.close()
        const calls = callsOf(store)
        const lives = store.incarnation === undefined ? [] : [calls.incarnation()]
        for (const call of [calls.read(key), calls.list('numbers/'), calls.nowMs(), ...lives]) {
          await expect(call).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
        }
        opened = { store, close() {} }
      })
    })
  },
)
