export { type Encoding, encodeId, encodings, parseId, type TextEncoding } from './codec/index.js'
export { gather, scatter } from './codec/scatter.js'
export { type ErrorCode, type ErrorDetails, errorCodes, GraupelError, isGraupelError } from './core/errors.js'
export type { Instant } from './core/moment.js'
export type { EngineKind, EngineOption } from './engine/choose.js'
export { type EngineInfo, engineInfo } from './engine/info.js'
export { type NodeSources, nodeFromEnvironment } from './engine/source/environment.js'
export { createGenerator } from './generator/create.js'
export type {
  BaseGenerator,
  GeneratorOf,
  GeneratorView,
  IdGenerator,
  NarrowGenerator,
  Stats,
  TagGenerator,
} from './generator/id-generator.js'
export type { GeneratorOptions, GeneratorSettings } from './generator/options.js'
export {
  composeId,
  type DecodedId,
  type DecodedTags,
  decode,
  defineLayout,
  type Field,
  type GivenId,
  type GivenTags,
  type GivenTagsPart,
  type IdFacts,
  type IdParts,
  type IdRange,
  type IsNarrow,
  idsBetween,
  isId,
  type Layout,
  type LayoutSpec,
  layouts,
  type NodeFieldOf,
  type NodeOf,
  type Placement,
  type PlainIdParts,
  type TagOf,
  type TagPlacement,
  type TagRole,
  type TagValues,
  timestampMsOf,
} from './layout/index.js'
export type { AheadEvent, EngineEvent, LeaseEvent, ObservedEvent, SegmentsEvent } from './platform/events.js'
export type { OverflowAction, RollbackAction, RollbackEvent } from './policy/policy.js'
export { type BaseSerial, defineSerial, type Serial, type SerialOptions } from './serial/index.js'
export type { IdArray, SequenceStartMode } from './state/engine.js'
