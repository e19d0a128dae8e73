export { defineKind } from './define.js'
export type { Kind, KindOptions, KindResult, KindSchema, KindText, UuidKind, UuidKindOptions } from './kind.js'
