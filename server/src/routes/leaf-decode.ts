import { layouts } from 'graupel'

/** What LeafMonitorController.decodeSnowflakeId answers, in the order in which a HashMap of Java 8 has it. */
export type LeafDecoded =
  | { readonly workerId: string; readonly sequenceId: string; readonly timestamp: string }
  | { readonly errorMsg: string }

const unreadable: LeafDecoded = { errorMsg: 'snowflake Id反解析发生异常!' }

/** Takes an id apart by Leaf's own shifts, which are right for its layout alone. @param text - As a client has sent it. */
export function decodeAsLeaf(text: string): LeafDecoded {
  // What Long.parseLong reads, but for digits of other scripts.
  if (!/^[+-]?[0-9]{1,100}$/.test(text)) return unreadable
  const id = BigInt(text.replace('+', ''))
  if (BigInt.asIntN(64, id) !== id) return unreadable
  const timeMs = Number(id >> 22n) + layouts.leaf.epochMs
  return {
    workerId: `${(id >> 12n) ^ ((id >> 22n) << 10n)}`,
    sequenceId: `${id ^ ((id >> 12n) << 12n)}`,
    timestamp: `${timeMs}(${localTime(new Date(timeMs))})`,
  }
}

/** As SimpleDateFormat("yyyy-MM-dd HH:mm:ss.SSS") writes it, in the time zone of the process. */
function localTime(date: Date): string {
  const digits = (number: number, width = 2) => `${number}`.padStart(width, '0')
  const day = [digits(date.getFullYear(), 4), digits(date.getMonth() + 1), digits(date.getDate())].join('-')
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map((number) => digits(number)).join(':')
  return `${day} ${time}.${digits(date.getMilliseconds(), 3)}`
}
