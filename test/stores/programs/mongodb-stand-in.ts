// The stand-in for MongoDB, as a process that can be stopped and killed. It keeps acknowledged writes in a
// folder.
import { join } from 'node:path'
import { serveMongo } from '../../support/mongo-wire.ts'
import { load } from '../kinds/kind.ts'
import { MongoStandIn } from '../kinds/mongodb-server.ts'

const [port = '', folder = '', setName] = process.argv.slice(2)
const bson = load('mongodb').BSON
const options = { file: join(folder, 'writes'), port: Number(port), ...(setName !== undefined && { setName }) }
const standIn = new MongoStandIn(bson, options)
await serveMongo(bson, (command) => standIn.answer(command), Number(port))
