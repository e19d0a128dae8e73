import { openSync, writeSync } from 'node:fs'
import { layouts } from 'graupel'
import { createUuidGenerator } from 'graupel/uuid'

// Makes UUIDs of a node by all calls in turns, and appends their bytes to a file, until it ends or is killed.

const [node, count, file = ''] = process.argv.slice(2)
const uuids = createUuidGenerator({ layout: layouts.wide, node: Number(node) })
const to = openSync(file, 'a')
const many = Buffer.alloc(16 * 4096)
const one = Buffer.alloc(16)
for (let made = 0; made < Number(count); made += 4096 + 2) {
  writeSync(to, uuids.fill(many))
  writeSync(to, uuids.nextBytes(one))
  writeSync(to, Buffer.from(uuids.next().replaceAll('-', ''), 'hex'))
}
uuids.close()
