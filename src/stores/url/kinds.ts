import { rangeError } from '../../core/errors.js'
import { dynamodbKind } from './dynamodb.js'
import { consulKind, etcdKind, serviceKind } from './fetched.js'
import type { StoreKind } from './kind.js'
import { kubernetesKind } from './kubernetes.js'
import { mongodbKind } from './mongodb.js'
import { mysqlKind } from './mysql.js'
import { azureKind, googleKind, s3Kind } from './object.js'
import { postgresKind } from './postgres.js'
import { redisKind } from './redis.js'
import { sqliteKind } from './sqlite.js'
import { zookeeperKind } from './zookeeper.js'

/** Every kind of store that a URL can name. @internal */
export const kinds: readonly StoreKind[] = [
  redisKind,
  postgresKind,
  mysqlKind,
  dynamodbKind,
  mongodbKind,
  etcdKind,
  zookeeperKind,
  consulKind,
  kubernetesKind,
  s3Kind,
  azureKind,
  googleKind,
  sqliteKind,
  serviceKind,
]

/** The schemes of the URLs of stores. @internal */
export const schemes: readonly string[] = kinds.flatMap((kind) => kind.schemes)

/** Finds the kind of a scheme. @throws RangeError `ERR_OPTION_INVALID` */
export function kindOf(scheme: string): StoreKind {
  const kind = kinds.find((kind) => kind.schemes.includes(scheme))
  if (kind !== undefined) return kind
  throw rangeError('ERR_OPTION_INVALID', `store begins with ${scheme}; the stores are ${schemes.join(', ')}`, 'store')
}
