import { rangeError } from '../../core/errors.js'
import type { Client, StoreKind } from './kind.js'
import { decoded, type StoreUrl } from './url.js'

const nodeZooKeeperClient: Client = {
  name: 'node-zookeeper-client',
  async open({ createClient, ACL }, url, { names }) {
    const { connection, user } = partsOf(url)
    const { zookeeperStore } = await import('../zookeeper.js')
    const make = () => {
      const client = createClient(connection)
      if (user !== undefined) client.addAuthInfo('digest', Buffer.from(user))
      return client
    }
    // Only the user who makes nodes may use them, as in the programs of a fleet.
    const store = zookeeperStore(make, { ...names, ...(user !== undefined && { acl: ACL.CREATOR_ALL_ACL }) })
    const close = () => store.close()
    try {
      // By a read, which is refused also where nothing is. With a signal, so that it does not wait for longer than it has to.
      await store.read('any', new AbortController().signal)
    } catch (error) {
      await close()
      // Without its code, so that the caller says where the store is.
      throw new Error((error as Error).message, { cause: error })
    }
    return { store, close }
  },
}

/** @throws RangeError `ERR_OPTION_INVALID` */
function partsOf(url: StoreUrl): { connection: string; user: string | undefined } {
  url.parameters([])
  // A slash at the end would be a path without a name.
  const connection = url.place.replace(/\/+$/, '')
  if (connection === '' || connection.startsWith('/')) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `store has no host; write ${url.scheme}//127.0.0.1:2181, or several with commas between them`,
      'store',
    )
  }
  return { connection, user: url.credentials === '' ? undefined : decoded(url.credentials) }
}

export const zookeeperKind: StoreKind = {
  schemes: ['zookeeper:', 'zk:'],
  named: 'prefix',
  clients: [nodeZooKeeperClient],
}
