export type { AheadEvent, EngineEvent } from '../platform/events.js'
export type { UuidVersion } from './bits.js'
export {
  type DecodedIdUuid,
  type DecodedUuid,
  decodeUuid,
  type IdUuidFacts,
  isUuid,
  parseUuid,
  type UuidVariant,
  uuidAt,
  uuidBytes,
} from './decode.js'
export {
  createUuidGenerator,
  type IdSource,
  type UuidGenerator,
  type UuidOptions,
  type UuidVersionOption,
} from './generator.js'
export { idOfUuid, type UuidKeyOptions, uuidOf } from './of-id.js'
export { createRandomUuidGenerator, type RandomUuidGenerator } from './random.js'
export { ulidOf, uuidOfUlid } from './ulid.js'
