import { consul } from './consul.ts'
import { dynamodb } from './dynamodb.ts'
import { etcd } from './etcd.ts'
import type { ServerKind } from './kind.ts'
import { kubernetes } from './kubernetes.ts'
import { mongodb } from './mongodb.ts'
import { mysql } from './mysql.ts'
import { azure, google, s3 } from './object.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { service } from './service.ts'
import { zookeeperKind as zookeeper } from './zookeeper.ts'

/**
 * The kinds of databases that have a server, each by the name of its entry: `redis` for
 * `graupel/stores/redis`. `s3`, `azure` and `google` are for `graupel/stores/object`.
 */
export const serverKinds: Readonly<Record<string, ServerKind>> = {
  redis,
  postgres,
  mysql,
  dynamodb,
  mongodb,
  etcd,
  zookeeper,
  consul,
  kubernetes,
  s3,
  azure,
  google,
  service,
}
