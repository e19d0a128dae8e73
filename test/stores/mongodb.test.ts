import { describe, expect, it } from 'vitest'
import { mongodbStore } from '../../src/stores/mongodb.js'

// mongodbStore on a database that answers what a test says. mongodb-traps.long.test.ts has the real driver.

function storeOn(calls: object, command: () => unknown = () => ({})) {
  const database = { databaseName: 'app', command: async () => command(), collection: () => calls }
  return mongodbStore(database as never)
}

const failing = (code: number, message: string) => async () => {
  throw Object.assign(new Error(message), { code })
}

describe('mongodbStore', () => {
  it('refuses assumeDurable: false, because MongoDB has no incarnation', () => {
    expect(() => mongodbStore({} as never, { assumeDurable: false })).toThrow(/have no incarnation/)
  })

  it.each<[string, object]>([
    ['a client', { db() {}, connect() {} }],
    ['a collection', { collectionName: 'a', insertOne() {}, findOne() {} }],
  ])('refuses %s', (_, given) => {
    expect(() => mongodbStore(given as never)).toThrow(/; pass a Db of the package mongodb, such as client\.db\(\)$/)
  })

  it('takes no write for landed that the client has not waited for', async () => {
    const unacknowledged = async () => ({ acknowledged: false, matchedCount: 1, deletedCount: 1 })
    const store = storeOn({ insertOne: unacknowledged, updateOne: unacknowledged, deleteOne: unacknowledged })
    for (const call of [
      () => store.write('a/1', 'x', undefined),
      () => store.write('a/1', 'x', 'v'),
      () => store.remove?.('a/1', 'v'),
    ]) {
      await expect(call()).rejects.toThrow('did not wait for the answer')
    }
  })

  it.each<[number, string, RegExp]>([
    [
      13,
      'not authorized on app to execute command { insert: "x", value: "secret" }',
      /\(not authorized on app to execute the command\); grant the user the role readWrite/,
    ],
    [18, 'Authentication failed.', /; check the user, the password and authSource$/],
    [8000, 'bad auth : authentication failed', /; check the user and the password$/],
    [
      123,
      'node needs to be a replica set member to use read concern',
      /; run the server as a replica set, of one member/,
    ],
    [303, "Option 'linearizable' is not supported as a read concern level", /; is this MongoDB 4\.4 or later\?/],
  ])('says what to do about the error %d', async (code, message, said) => {
    const error = await storeOn({ findOne: failing(code, message) })
      .read('a/1')
      .catch((thrown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(said) })
    expect(error.message).not.toContain('secret')
  })

  it.each([10_107, 91, 6])('leaves the error %d as it is, because a later try may succeed', async (code) => {
    await expect(storeOn({ findOne: failing(code, 'not primary') }).read('a/1')).rejects.toMatchObject({ code })
  })

  it('refuses an answer to hello without a time', async () => {
    await expect(storeOn({}, () => ({ localTime: 5 })).nowMs?.()).rejects.toThrow('has number for its localTime')
    expect(await storeOn({}, () => ({ localTime: new Date(5) })).nowMs?.()).toBe(5)
  })

  it('adds again if another process has made the number at the same moment', async () => {
    let calls = 0
    const findOneAndUpdate = async () => (calls++ === 0 ? failing(11_000, 'E11000')() : { sum: 7n })
    expect(await storeOn({ findOneAndUpdate }).add?.('a/1', 1n)).toBe(7n)
    expect(calls).toBe(2)
  })
})
