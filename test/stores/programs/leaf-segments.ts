// Takes segments of one biz_tag from the table of Leaf until its input ends, beside other processes with this
// program. Writes each segment as `first count`. Acts as Leaf itself by mysql2, or uses a client of graupel,
// or a generator that takes one number at a time. Starts on a message.
import { once } from 'node:events'
import { createSegmentGenerator } from '../../../src/segments/index.js'
import { leafAllocStore } from '../../../src/stores/leaf-alloc.js'
import { host, load } from '../kinds/kind.ts'
import { database, mysqlPools } from '../kinds/mysql.ts'

const [who = '', port = '', tag = ''] = process.argv.slice(2)

/**
 * Takes a segment like Leaf's IDAllocDaoImpl. MyBatis turns autocommit off for the transaction and on again;
 * Leaf does the rest.
 */
async function asLeaf(): Promise<(ownStep: number | undefined) => Promise<[bigint, number]>> {
  const options = { host, port: Number(port), user: 'root', database, supportBigNumbers: true, bigNumberStrings: true }
  const connection = await load('mysql2/promise').createConnection(options)
  return async (ownStep) => {
    await connection.query('SET autocommit=0')
    if (ownStep === undefined) {
      await connection.execute('UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = ?', [tag])
    } else {
      await connection.execute('UPDATE leaf_alloc SET max_id = max_id + ? WHERE biz_tag = ?', [ownStep, tag])
    }
    const [[row]] = await connection.execute('SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = ?', [tag])
    await connection.commit()
    await connection.query('SET autocommit=1')
    const step = ownStep ?? Number(row.step)
    return [BigInt(row.max_id) - BigInt(step), step]
  }
}

async function asOurs(): Promise<(ownStep: number | undefined) => Promise<[bigint, number]>> {
  const pool = mysqlPools[who as keyof typeof mysqlPools](Number(port))
  const store = leafAllocStore(pool)
  return async (ownStep) => {
    const { first, count } = await store.takeSegment(tag, ownStep)
    return [first, count]
  }
}

async function asGenerator(): Promise<() => Promise<[bigint, number]>> {
  const store = leafAllocStore(mysqlPools.mysql2(Number(port)))
  // Longer than the default, because Leaf beside it takes segments without a pause.
  const numbers = await createSegmentGenerator({ store, name: tag, callTimeoutMs: 60_000 })
  return async () => [await numbers.nextAsync(), 1]
}

const players: Record<string, typeof asLeaf> = { leaf: asLeaf, generator: asGenerator }
const take = await (players[who] ?? asOurs)()
console.log('ready')
await once(process.stdin, 'data')
let isEnding = false
process.stdin.on('end', () => {
  isEnding = true
})
for (let taken = 0; !isEnding; taken++) {
  const [first, count] = await take(taken % 2 === 0 ? undefined : 1 + (taken % 50))
  console.log(`${first} ${count}`)
}
process.exit()
