import { fileURLToPath } from 'node:url'
import type { Store } from 'graupel/stores'
import { type OpenedStore, openStore } from 'graupel/stores/url'
import { afterEach } from 'vitest'
import { makeApp } from '../../../server/src/http/app.ts'
import { complete } from '../../../server/src/options/complete.ts'
import { Service } from '../../../server/src/service.ts'
import { folder } from './process.ts'

// The service within the process of the test, so that its store can be made to fail, and its insides be looked at.

export interface Started {
  readonly url: string
  readonly app: Awaited<ReturnType<typeof makeApp>>
  readonly service: Service
  readonly opened: OpenedStore
}

const package_ = fileURLToPath(new URL('../../../server/package.json', import.meta.url))
const closings: (() => Promise<unknown>)[] = []
let databases = 0

afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** @param around - Puts something around the store, which is a database of the test's own unless the options name one. */
export async function startService(
  given: Parameters<typeof complete>[0] = {},
  around: (store: Store) => Store = (store) => store,
): Promise<Started> {
  const options = complete({ logLevel: 'silent', ...given })
  const url = options.store ?? `sqlite:${folder}/${databases++}.db`
  const opened = await openStore(url, { clientsOf: package_ })
  const service = new Service(options, opened, around(opened.store))
  const app = await makeApp(options, service)
  closings.push(async () => {
    await app.close()
    await service.close()
  })
  await service.open()
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), app, service, opened }
}

/** A store whose calls can be made to fail, and are counted. */
export class Faulty {
  isAway = false
  calls = 0
  /** Lets the calls go on that wait since {@link hold}. */
  release = (): void => {}
  #gate: Promise<void> = Promise.resolve()

  /** Lets calls wait from now on. */
  hold(): void {
    this.#gate = new Promise((resolve) => {
      this.release = resolve
    })
  }

  readonly around = (store: Store): Store => {
    const run = async <T>(call: () => Promise<T>): Promise<T> => {
      this.calls++
      await this.#gate
      if (this.isAway) throw new Error('connect ECONNREFUSED 10.1.2.3:6379')
      return call()
    }
    return {
      ...store,
      read: (...words) => run(() => store.read(...words)),
      list: (...words) => run(() => store.list(...words)),
      write: (...words) => run(() => store.write(...words)),
      ...(store.nowMs && { nowMs: (signal) => run(async () => (await store.nowMs?.(signal)) as number) }),
    }
  }
}
