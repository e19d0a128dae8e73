export { defineKind } from './define.js'
export type { KindId, KindIds } from './ids.js'
export type { Kind, KindOptions, KindText, UuidKind, UuidKindOptions } from './kind.js'
export { type IdJsonSchema, type IdResult, type IdSchema, idSchema } from './schema.js'
