import type { Layout } from '../index.js'
import { fieldsText, type Placement } from '../layout/index.js'

// The statements of `graupel sql`.

export type Dialect = 'postgres' | 'mariadb' | 'mysql' | 'sqlite'
export const dialects: readonly Dialect[] = ['postgres', 'mariadb', 'mysql', 'sqlite']

/** The bits that all ids of the database have in common. */
interface Common {
  readonly node: number
  /** The node and the tags, shifted as in an id. */
  readonly bits: bigint
}

/**
 * Returns the statements of `graupel sql`.
 *
 * @param made - Describes the ids that the database makes; without it, the database makes no ids.
 */
export function scriptOf(layout: Layout, dialect: Dialect, made?: Common): string {
  const comment = `-- Ids of layout ${layout.name}: ${fieldsText(layout)}; tick ${layout.tickMs} ms, epoch ${new Date(layout.epochMs).toISOString()}`
  const decoding = {
    postgres: decodingInPostgres,
    mariadb: decodingInMysql,
    mysql: decodingInMysql,
    sqlite: decodingInSqlite,
  }[dialect](layout)
  const making = made === undefined ? [] : (dialect === 'postgres' ? makingInPostgres : makingInMariadb)(layout, made)
  return [comment, ...decoding, ...making, ''].join('\n')
}

/**
 * The time of an id, in milliseconds since 1970.
 *
 * @param signed - Makes ticks of an unsigned type signed, because an epoch before 1970 is below 0.
 */
function timeOf(layout: Layout, id = 'id', signed = (ticks: string) => `(${ticks})`): string {
  const { timestamp, tickMs, epochMs } = layout
  const ticks = isRange(layout) ? `${id} >> ${timestamp.shift}` : partOf(timestamp, id)
  return `(${signed(ticks)}${tickMs === 1 ? '' : ` * ${tickMs}`} + ${epochMs})`
}

/** Whether the ids of a time are one range: no field stands above the timestamp. */
function isRange({ timestamp, bits }: Layout): boolean {
  return timestamp.shift + timestamp.bits === bits
}

/** A field, or fields with no other field between them. */
function partOf({ shift, bits }: Pick<Placement, 'shift' | 'bits'>, id = 'id'): string {
  const mask = 2n ** BigInt(bits) - 1n
  return shift === 0 ? `${id} & ${mask}` : `(${id} >> ${shift}) & ${mask}`
}

/** The parts of an id beside its time, each with an expression. */
function partsOf(layout: Layout, id?: string): [name: string, expression: string][] {
  const { nodeFields, tagFields, sequence } = layout
  return [
    ...(nodeFields.length === 0 ? [] : [['node', nodeIn(layout, id)] as [string, string]]),
    ...tagFields.map((tag): [string, string] => [tag.name, partOf(tag, id)]),
    ['sequence', partOf(sequence, id)],
  ]
}

function nodeIn({ nodeFields, nodeBits }: Layout, id?: string): string {
  const [first, last] = [nodeFields[0] as Placement, nodeFields.at(-1) as Placement]
  if (first.shift + first.bits - last.shift === nodeBits) return partOf({ shift: last.shift, bits: nodeBits }, id)
  let below = nodeBits
  const parts = nodeFields.map((field) => {
    below -= field.bits
    return below === 0 ? `(${partOf(field, id)})` : `((${partOf(field, id)}) << ${below})`
  })
  return parts.join(' | ')
}

/**
 * The whole ticks from the epoch to a time in milliseconds. @param div - The operator that divides, and
 * rounds down.
 */
function ticksOf({ epochMs, tickMs }: Layout, ms: string, div: string): string {
  const since = `(${ms} - ${epochMs})`
  return tickMs === 1 ? since : `(${since} ${div} ${tickMs})`
}

/**
 * How many ids, or slots, a tick has. As a factor, it makes the database refuse what a shift would cut off.
 */
const perTick = (shift: number) => 2n ** BigInt(shift)

/**
 * The first id at or after a time in milliseconds, as `idsBetween` finds it, in a layout whose ids of a time
 * are a range.
 */
function firstOf(layout: Layout, ms: string, div: string): string {
  const { tickMs } = layout
  return `${ticksOf(layout, tickMs === 1 ? ms : `${ms} + ${tickMs - 1}`, div)} * ${perTick(layout.timestamp.shift)}`
}

/** The parts of an id whose tick and sequence are the high and the low bits of `slot`. */
function idOf(layout: Layout, { bits }: Common): string {
  const { timestamp, sequence } = layout
  const low = `slot & ${perTick(sequence.bits) - 1n}`
  const parts = [
    `((slot >> ${sequence.bits}) << ${timestamp.shift})`,
    `${bits}`,
    sequence.shift === 0 ? `(${low})` : `((${low}) << ${sequence.shift})`,
  ]
  return parts.join(' | ')
}

/** The number of slots of a layout, which is above all of them. */
function slotsOf({ maxTick, sequence }: Layout): bigint {
  return BigInt(maxTick + 1) * perTick(sequence.bits)
}

function decodingInPostgres(layout: Layout): string[] {
  const define = (head: string, type: string, expression: string) => [
    `CREATE OR REPLACE FUNCTION ${head} RETURNS ${type} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$`,
    `  SELECT ${expression}`,
    '$$;',
  ]
  const ms = 'ceil(extract(epoch FROM moment) * 1000)::bigint'
  return [
    ...define('graupel_time(id bigint)', 'timestamptz', `to_timestamp(${timeOf(layout)} / 1000.0)`),
    ...partsOf(layout).flatMap(([name, expression]) => define(`graupel_${name}(id bigint)`, 'bigint', expression)),
    ...(isRange(layout) ? define('graupel_at(moment timestamptz)', 'bigint', firstOf(layout, ms, '/')) : []),
    // Twice the reversed bits are the bits.
    ...['scatter', 'gather'].flatMap((name) =>
      define(`graupel_${name}(id bigint)`, 'bigint', reversedInPostgres(layout)),
    ),
  ]
}

/**
 * The bits of a number in reverse, as `scatter` writes them. A number that is too wide for the layout becomes
 * a text, which the database refuses as a number.
 */
function reversedInPostgres({ bits, name }: Layout): string {
  const reversed = `reverse(id::bit(${bits})::text)::bit(${bits})::bigint`
  if (bits === 64) return reversed
  return `CASE WHEN id >> ${bits} = 0 THEN ${reversed} ELSE (id || ' is no id of ${name}')::bigint END`
}

function reversedInMysql({ bits, name }: Layout): string {
  const reversed = `CONV(REVERSE(LPAD(BIN(id), ${bits}, '0')), 2, 10)`
  return bits === 64 ? reversed : `IF(id >> ${bits} = 0, ${reversed}, CONCAT(id, ' is no id of ${name}'))`
}

function decodingInMysql(layout: Layout): string[] {
  const define = (name: string, parameter: string, type: string, expression: string) => [
    `DROP FUNCTION IF EXISTS ${name};`,
    `CREATE FUNCTION ${name}(${parameter}) RETURNS ${type} DETERMINISTIC NO SQL`,
    `  RETURN ${expression};`,
  ]
  const zero = "TIMESTAMP'1970-01-01 00:00:00'"
  const signed = layout.epochMs < 0 ? (ticks: string) => `CAST(${ticks} AS SIGNED)` : undefined
  const ms = `CAST(CEILING(TIMESTAMPDIFF(MICROSECOND, ${zero}, moment) / 1000) AS SIGNED)`
  const time = `${zero} + INTERVAL ${timeOf(layout, 'id', signed)} * 1000 MICROSECOND`
  return [
    '-- Times are in UTC.',
    ...define('graupel_time', 'id BIGINT UNSIGNED', 'DATETIME(6)', time),
    ...partsOf(layout).flatMap(([name, part]) => define(`graupel_${name}`, 'id BIGINT UNSIGNED', 'BIGINT', part)),
    ...(isRange(layout) ? define('graupel_at', 'moment DATETIME(6)', 'BIGINT', firstOf(layout, ms, 'DIV')) : []),
    ...['scatter', 'gather'].flatMap((name) =>
      define(`graupel_${name}`, 'id BIGINT UNSIGNED', 'BIGINT UNSIGNED', reversedInMysql(layout)),
    ),
  ]
}

function decodingInSqlite(layout: Layout): string[] {
  const time = `strftime('%Y-%m-%dT%H:%M:%fZ', ${timeOf(layout, ':id')} / 1000.0, 'unixepoch')`
  const ms = 'CAST(round((julianday(:moment) - 2440587.5) * 86400000) AS INTEGER)'
  return [
    '-- SQLite has no stored functions: use these expressions. Times are text in UTC.',
    `SELECT ${time} AS graupel_time;`,
    ...partsOf(layout, ':id').map(([name, part]) => `SELECT ${part} AS graupel_${name};`),
    ...(isRange(layout) ? [`SELECT ${firstOf(layout, ms, '/')} AS graupel_at;`] : []),
  ]
}

const howItMakes = ({ node }: Common, table: string) => [
  '',
  `-- graupel_next() makes ids on node ${node}. Nothing else may use this node: docs/databases.md.`,
  `-- ${table} holds the last slot, which is a tick and a sequence number. It only grows, also if a transaction is`,
  '-- rolled back or the clock is set back, so no slot comes twice.',
]

function makingInPostgres(layout: Layout, made: Common): string[] {
  const present = ticksOf(layout, 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint', '/')
  return [
    ...howItMakes(made, 'The sequence'),
    `CREATE SEQUENCE IF NOT EXISTS graupel_last AS bigint MINVALUE 0 MAXVALUE ${slotsOf(layout) - 1n} START 0;`,
    'CREATE OR REPLACE FUNCTION graupel_next() RETURNS bigint LANGUAGE plpgsql AS $$',
    'DECLARE',
    '  slot bigint;',
    'BEGIN',
    '  BEGIN',
    "    PERFORM pg_advisory_xact_lock('graupel_last'::regclass::oid::bigint);",
    `    SELECT greatest(last_value + 1, ${present} * ${perTick(layout.sequence.bits)}) INTO slot FROM graupel_last;`,
    "    PERFORM setval('graupel_last', slot);",
    '    -- Ends this block like an error, which frees the lock before the transaction ends. A sequence is not rolled back.',
    "    RAISE SQLSTATE 'GRAUP';",
    "  EXCEPTION WHEN SQLSTATE 'GRAUP' THEN",
    '    NULL;',
    '  END;',
    `  RETURN ${idOf(layout, made)};`,
    'END',
    '$$;',
  ]
}

function makingInMariadb(layout: Layout, made: Common): string[] {
  const since = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 1000"
  const present = `${ticksOf(layout, since, 'DIV')} * ${perTick(layout.sequence.bits)}`
  return [
    ...howItMakes(made, 'The counter of AUTO_INCREMENT'),
    'CREATE TABLE IF NOT EXISTS graupel_last (',
    '  slot BIGINT NOT NULL AUTO_INCREMENT,',
    '  connection BIGINT UNSIGNED NOT NULL,',
    '  PRIMARY KEY (slot, connection)',
    ') ENGINE=InnoDB;',
    'DROP FUNCTION IF EXISTS graupel_next;',
    'DELIMITER //',
    'CREATE FUNCTION graupel_next() RETURNS BIGINT NOT DETERMINISTIC MODIFIES SQL DATA',
    'BEGIN',
    `  DECLARE present BIGINT DEFAULT ${present};`,
    '  DECLARE slot BIGINT;',
    '  -- Raises the counter to the clock, and never lowers it.',
    '  INSERT INTO graupel_last VALUES (present, CONNECTION_ID());',
    '  INSERT INTO graupel_last (connection) VALUES (CONNECTION_ID());',
    '  SET slot = LAST_INSERT_ID();',
    '  DELETE FROM graupel_last WHERE graupel_last.slot IN (present, slot) AND connection = CONNECTION_ID();',
    `  IF slot >= ${slotsOf(layout)} THEN`,
    "    SIGNAL SQLSTATE '22003' SET MESSAGE_TEXT = 'graupel_next: the time no longer fits the layout';",
    '  END IF;',
    `  RETURN ${idOf(layout, made)};`,
    'END//',
    'DELIMITER ;',
  ]
}
