import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { createGenerator, type GraupelError } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { expect } from 'vitest'
import type { Fetch } from '../../src/stores/etcd.js'
import type { Store } from '../../src/stores/store.js'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import type { Server } from './servers.ts'

// Shared parts of the tests of stores that use fetch.

/** A `fetch` that trusts any certificate. */
export const trustingFetch: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const options = { method, headers, rejectUnauthorized: false, ...(signal && { signal }) }
    const sent = request(url, options, (answer) => {
      const get = (name: string) => (answer.headers[name] as string | undefined) ?? null
      resolve({ status: answer.statusCode ?? 0, headers: { get }, text: () => text(answer) })
    })
    sent.on('error', reject)
    sent.end(body)
  })

/**
 * Checks that a lease lasts to its ceiling while its server is stopped, and goes on when the server goes on.
 */
export async function keepsItsPromisesWhileStopped(server: Server, store: Store): Promise<void> {
  await using lease = await acquireLease({ store, namespace: freshNamespace(), windowMs: 1000 })
  const ids = createGenerator({ lease })
  const made = [await ids.nextAsync()]
  await server.signal('SIGSTOP')
  let refused: GraupelError | undefined
  try {
    await until(() => {
      try {
        made.push(ids.next())
      } catch (error) {
        refused = error as GraupelError
      }
      return refused !== undefined
    })
  } finally {
    await server.signal('SIGCONT')
  }
  expect(refused?.code).toBe('ERR_LEASE_EXPIRED')
  await until(() => lease.stats().ceilingMs > Date.now())
  made.push(await ids.nextAsync())
  expect(isAscending(made)).toBe(true)
}
