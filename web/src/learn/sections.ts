import type { Layout } from 'graupel'
import type { LearnMessages } from '../text/learn/en.ts'

/** A section whose text is a message: its first line is the title. */
export interface Section {
  readonly key: keyof LearnMessages
  /**
   * The form of the other lines. `own`: the page and the document write what stands below the title.
   *
   * @default paragraphs
   */
  readonly kind?: 'numbered' | 'items' | 'own'
  /** How many lines are paragraphs above the items. @default 0 */
  readonly leads?: number
}

/** All sections in order. The page and the document add pictures, tables and code to some. */
export const sections: readonly Section[] = [
  { key: 'learnWhat' },
  { key: 'learnBits' },
  { key: 'learnMade' },
  { key: 'learnApart' },
  { key: 'learnSteps', kind: 'numbered' },
  { key: 'learnTroubles', kind: 'items' },
  { key: 'learnPrimer', kind: 'items' },
  { key: 'learnUse', kind: 'own' },
  { key: 'learnWhen', kind: 'items', leads: 1 },
  { key: 'learnOthers', kind: 'own' },
  { key: 'learnLimits', kind: 'items' },
  { key: 'learnHistory' },
  { key: 'learnCode' },
  { key: 'learnReferences', kind: 'own' },
]

/** A name and its address. */
type Link = readonly [name: string, url: string]

/** The alternatives, in the order of the lines of their text. */
export const alternatives: readonly Link[] = [
  ['UUID v4', 'https://www.rfc-editor.org/rfc/rfc9562#section-5.4'],
  ['UUID v7', 'https://www.rfc-editor.org/rfc/rfc9562#section-5.7'],
  ['ULID', 'https://github.com/ulid/spec'],
  ['ObjectId', 'https://www.mongodb.com/docs/manual/reference/bson-types/#objectid'],
  ['KSUID', 'https://github.com/segmentio/ksuid'],
  ['AUTO_INCREMENT', 'https://dev.mysql.com/doc/refman/8.4/en/example-auto-increment.html'],
]

export const references: readonly Link[] = [
  ['Announcing Snowflake, 2010', 'https://blog.x.com/engineering/en_us/a/2010/announcing-snowflake'],
  ['twitter-archive/snowflake, 2010', 'https://github.com/twitter-archive/snowflake/tree/snowflake-2010'],
  ['Snowflake ID, Wikipedia', 'https://en.wikipedia.org/wiki/Snowflake_ID'],
  ['Sharding & IDs at Instagram', 'https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c'],
  ['Discord: Snowflakes', 'https://discord.com/developers/docs/reference#snowflakes'],
  ['sony/sonyflake', 'https://github.com/sony/sonyflake'],
  ['Meituan-Dianping/Leaf', 'https://github.com/Meituan-Dianping/Leaf'],
  ['RFC 9562: UUIDs', 'https://www.rfc-editor.org/rfc/rfc9562'],
]

/** The mean year of the calendar. */
const yearMs = 365.2425 * 24 * 3_600_000

/** Returns the numbers of a layout that the texts name. Numbers are written in the language later. */
export function valuesOf(layout: Layout, day: (ms: number) => string): Record<string, string | number> {
  const { timestamp, sequence, nodeBits, bits, nodes, tickMs, epochMs } = layout
  return {
    layout: layout.name,
    bits,
    timestampBits: timestamp.bits,
    nodeBits,
    nodes,
    lastNode: nodes - 1,
    sequenceBits: sequence.bits,
    perTick: 2 ** sequence.bits,
    perSecond: Math.floor(layout.idsPerSecond),
    tick: tickMs,
    epoch: new Date(epochMs).toISOString(),
    expires: day(layout.expiresAt.getTime()),
    years: Math.round(((layout.expiresAt.getTime() - epochMs) / yearMs) * 10) / 10,
  }
}
