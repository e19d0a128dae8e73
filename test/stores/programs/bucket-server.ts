// The stand-in for S3 and Google, as a process that can be stopped and killed. It keeps its objects in a
// folder.
import { join } from 'node:path'
import { BucketServer } from '../buckets/server.ts'

const [port = '', folder = ''] = process.argv.slice(2)
new BucketServer({ file: join(folder, 'objects') }).listen(Number(port))
