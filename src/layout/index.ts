export {
  composeId,
  type DecodedId,
  type DecodedTags,
  decode,
  type GivenTagsPart,
  type IdFacts,
  type IdParts,
  type PlainIdParts,
  timeOf,
  timestampMsOf,
} from './decode.js'
export { checkMakesIds, defineLayout, genuineLayout } from './define.js'
export { type Checked, isId, loadId, toId } from './id.js'
export type { Field, GivenId, IsNarrow, NodeFieldOf, TagOf, TagPlacement, TagRole } from './layout.js'
export { fieldsText, isSameLayout, Layout, type LayoutSpec, type Placement } from './layout.js'
export { combineNode, type NodeOf, shiftNode } from './node.js'
export {
  beforeEpochError,
  checkLifetime,
  expiredError,
  optionsElsewhere,
  refuseSeconds,
  resolveLayout,
} from './option.js'
export { checkOrder, usualAheadMs } from './order.js'
export { partOf } from './part.js'
export { layouts } from './presets.js'
export { type IdRange, idsBetween } from './range.js'
export { checkTags, type GivenTags, missingTag, requiredTag, shiftTags, type TagValues } from './tags.js'
