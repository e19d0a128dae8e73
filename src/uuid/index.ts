export type { UuidVersion } from './bits.js'
export {
  type DecodedIdUuid,
  type DecodedUuid,
  decodeUuid,
  idOfUuid,
  isUuid,
  parseUuid,
  type UuidVariant,
  uuidAt,
  uuidBytes,
  uuidOf,
} from './decode.js'
export {
  createUuidGenerator,
  type IdSource,
  type UuidGenerator,
  type UuidOptions,
  type UuidVersionOption,
} from './generator.js'
