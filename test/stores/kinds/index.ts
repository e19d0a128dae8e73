import { consul } from './consul.ts'
import { etcd } from './etcd.ts'
import type { ServerKind } from './kind.ts'
import { kubernetes } from './kubernetes.ts'
import { mysql } from './mysql.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { zookeeperKind as zookeeper } from './zookeeper.ts'

/** Every kind of database that has a server; by the name of its folder in the package, `graupel/stores/redis`. */
export const serverKinds: Readonly<Record<string, ServerKind>> = {
  redis,
  postgres,
  mysql,
  etcd,
  zookeeper,
  consul,
  kubernetes,
}
