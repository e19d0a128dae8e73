import { rangeError } from '../../core/errors.js'
import { decoded } from '../record.js'
import { type Client, orClosed, type StoreKind } from './kind.js'
import type { StoreUrl } from './url.js'

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
    // Only the user who makes a node may use it.
    const store = zookeeperStore(make, { ...names, ...(user !== undefined && { acl: ACL.CREATOR_ALL_ACL }) })
    const close = () => store.close()
    // Tests the connection by a read, which the server refuses even if nothing is stored. A read with a
    // signal waits for a connection for 1.5 s, and says why it got none. A busy server needs longer for its
    // first session, so there are three.
    const read = () => store.read('any', new AbortController().signal)
    await orClosed(close, () => read().catch(read).catch(read)).catch((error) => {
      // Without its code, so that the caller adds the place of the store.
      throw new Error((error as Error).message, { cause: error })
    })
    return { store, close }
  },
}

/** @throws RangeError `ERR_OPTION_INVALID` */
function partsOf(url: StoreUrl): { connection: string; user: string | undefined } {
  url.parameters([])
  // ZooKeeper would take a slash at the end for a path without a name.
  const connection = url.address.replace(/\/+$/, '')
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
