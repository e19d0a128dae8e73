import { rangeError } from '../../core/errors.js'
import { type Client, connectMs, orClosed, type StoreKind, silentMs } from './kind.js'
import { cut, type StoreUrl } from './url.js'

const mongodb: Client = {
  name: 'mongodb',
  // After an outage the heartbeat of the driver may neither succeed nor fail, although connectTimeoutMS is
  // set. The driver then takes the server for lost (mongodb 7.9.0, seen for 40 s).
  staysSilent: true,
  async open({ MongoClient }, url, { names: { table, ...names } }) {
    checkDatabase(url)
    const { mongodbStore } = await import('../mongodb.js')
    const client = new MongoClient(url.text, {
      serverSelectionTimeoutMS: connectMs,
      connectTimeoutMS: connectMs,
      socketTimeoutMS: silentMs,
      waitQueueTimeoutMS: connectMs,
      maxPoolSize: 2,
    })
    const close = () => client.close()
    return orClosed(close, async () => {
      await client.connect()
      const store = mongodbStore(client.db(), { ...names, ...(table !== undefined && { collection: table }) })
      // Tests whether the server has linearizable reads.
      await store.read('any')
      return { store, close }
    })
  },
}

/** Refuses a URL without a database, for which the driver would take `test`. @throws RangeError */
function checkDatabase({ scheme, address }: StoreUrl): void {
  const [host, database = ''] = cut(address, '/')
  if (host !== '' && database !== '') return
  throw rangeError('ERR_OPTION_INVALID', `store has no database; write ${scheme}//USER:PASSWORD@HOST/DATABASE`, 'store')
}

export const mongodbKind: StoreKind = {
  schemes: ['mongodb:', 'mongodb+srv:'],
  named: 'table',
  clients: [mongodb],
}
