import type { ServerKind } from './kind.ts'
import { kubernetes } from './kubernetes.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'

/** Every kind of database that has a server; by the name of its folder in the package, `graupel/stores/redis`. */
export const serverKinds: Readonly<Record<string, ServerKind>> = { kubernetes, redis, postgres }
