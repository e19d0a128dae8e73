import { endianness } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { encodeId, type TextEncoding } from 'graupel'
import { hasTexts, isOfRuns, type Representation } from './media.js'
import { bytesOfRuns, jsonOfRuns, type RunRule, Runs } from './runs.js'

/**
 * Numbers of all requests together that have a turn before the event loop does other work. They take about
 * half a millisecond.
 */
export const sliceLength = 16_384
/** Numbers of runs that take less: a run is found by a look at few of its numbers. */
const numbersOfRuns = 2 ** 18
/** Texts that take as long as {@link sliceLength} numbers: those of an opaque kind take 1.5 µs each. */
const textsOfSlice = 512

let handled = 0
let turn: Promise<void> | undefined

function nextTurn(): Promise<void> {
  turn ??= setImmediate().then(() => {
    turn = undefined
    handled = 0
  })
  return turn
}

/**
 * Does work for `count` numbers in slices, each in its turn. The requests that wait have a slice each, in
 * their order.
 *
 * @param length - Numbers of a slice: fewer if each takes longer, and more if each takes less.
 */
export async function inSlices(
  count: number,
  work: (from: number, to: number) => unknown,
  length = sliceLength,
): Promise<void> {
  for (let from = 0; from < count; from += length) {
    const to = Math.min(count, from + length)
    while (handled >= sliceLength) await nextTurn()
    handled += (to - from) * (sliceLength / length)
    void nextTurn()
    await work(from, to)
  }
}

/** The properties of numbers that their body depends on. */
export interface NumberKind {
  /** The property of the JSON that has the numbers: `ids`. */
  readonly key: string
  /** Which of them make a run. */
  readonly runs: RunRule
}

/** Makes the body of an answer with numbers of 64 bits. */
export async function bodyOf(
  numbers: BigUint64Array,
  representation: Representation,
  encoding: TextEncoding,
  { key, runs }: NumberKind,
): Promise<Buffer> {
  if (representation === 'bytes') return littleEndian(numbers)
  if (isOfRuns(representation)) {
    return bodyOfRuns(numbers.length, representation, runs, (from, to) => numbers.subarray(from, to))
  }
  if (encoding !== 'decimal') {
    return bodyOfTexts(numbers.length, representation, key, (index) => encodeId(numbers[index] as bigint, encoding))
  }
  return joined(numbers.length, representation, key, sliceLength, (from, to, frame) =>
    writeDecimals(numbers.subarray(from, to), frame),
  )
}

/**
 * Makes the body of an answer with texts of ASCII. @param textAt - Returns the text of each number, in their
 * order.
 */
export function bodyOfTexts(
  count: number,
  representation: 'json' | 'text',
  key: string,
  textAt: (index: number) => string,
): Promise<Buffer> {
  return joined(count, representation, key, textsOfSlice, (from, to, { start, between, end }) => {
    const texts = Array.from({ length: to - from }, (_, index) => textAt(from + index))
    return Buffer.from(`${start}${texts.join(between)}${end}`, 'latin1')
  })
}

/** Reads texts to their numbers. @param numberAt - Reads the text of each number, in their order. */
export async function numbersOfTexts(count: number, numberAt: (index: number) => bigint): Promise<BigUint64Array> {
  const numbers = new BigUint64Array(count)
  const read = (from: number, to: number) => {
    for (let index = from; index < to; index++) numbers[index] = numberAt(index)
  }
  await inSlices(count, read, textsOfSlice)
  return numbers
}

async function joined(
  count: number,
  representation: 'json' | 'text',
  key: string,
  length: number,
  write: (from: number, to: number, frame: Frame) => Buffer,
): Promise<Buffer> {
  const { start, between, end } = representation === 'text' ? lines : json(key)
  const parts: Buffer[] = []
  await inSlices(
    count,
    (from, to) => {
      parts.push(write(from, to, { start: from === 0 ? start : between, between, end: to === count ? end : '' }))
    },
    length,
  )
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
}

/**
 * Makes the body of an answer with runs. @param part - Returns some of the numbers; the part before is not
 * used any more.
 */
export async function bodyOfRuns(
  count: number,
  representation: 'runs' | 'runs-json',
  rule: RunRule,
  part: (from: number, to: number) => BigUint64Array | Promise<BigUint64Array>,
): Promise<Buffer> {
  const runs = new Runs(rule)
  await inSlices(
    count,
    async (from, to) => {
      for (let at = from; at < to; at += sliceLength) runs.add(await part(at, Math.min(to, at + sliceLength)))
    },
    numbersOfRuns,
  )
  return representation === 'runs' ? bytesOfRuns(runs.all()) : jsonOfRuns(runs.all())
}

/** Makes the body of an answer with one number. */
export function bodyOfOne(
  number: bigint,
  representation: Representation,
  encoding: TextEncoding,
  kind: NumberKind,
): string | Buffer | Promise<Buffer> {
  if (hasTexts(representation)) {
    const text = encoding === 'decimal' ? number.toString() : encodeId(number, encoding)
    return representation === 'text' ? `${text}\n` : `{"${kind.key}":["${text}"]}`
  }
  return bodyOf(BigUint64Array.of(number), representation, encoding, kind)
}

const lines: Frame = { start: '', between: '\n', end: '\n' }

function json(key: string): Frame {
  return { start: `{"${key}":["`, between: '","', end: '"]}' }
}

const isLittleEndian = endianness() === 'LE'

/** Returns the same memory if the machine's byte order is little-endian. */
function littleEndian(numbers: BigUint64Array): Buffer {
  const bytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength)
  return isLittleEndian ? bytes : bytes.swap64()
}

/**
 * The digits below it are computed for each number. The digits above it are shared by numbers that follow one
 * another.
 */
const lowest = 1_000_000_000
const lowestDigits = 9
const maxDigits = 20

/** The index of the lower half of a number. */
const lowerHalf = isLittleEndian ? 0 : 1

/** The texts around and between the numbers of a body. */
interface Frame {
  readonly start: string
  readonly between: string
  readonly end: string
}

/**
 * Writes numbers in decimal, as bytes of ASCII. It takes 28 ns for a number. Joining the bigints takes 70 ns
 * and makes a string that has to be copied once more.
 */
export function writeDecimals(numbers: BigUint64Array, { start, between, end }: Frame): Buffer {
  const halves = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2)
  const gap = Buffer.from(between, 'latin1')
  const bytes = Buffer.allocUnsafe(start.length + end.length + numbers.length * (maxDigits + gap.length))
  let at = bytes.write(start, 0, 'latin1')
  let upper: Uint8Array = new Uint8Array(0)
  // The halves of the number whose upper digits are in `upper`. At first there is no such number.
  let baseHigh = Number.NaN
  let baseLow = 0
  for (let index = 0; index < numbers.length; index++) {
    if (index > 0) for (let i = 0; i < gap.length; i++) bytes[at++] = gap[i] as number
    const high = halves[index * 2 + 1 - lowerHalf] as number
    const low = halves[index * 2 + lowerHalf] as number
    let rest = (high - baseHigh) * 2 ** 32 + low - baseLow
    if (!(rest >= 0 && rest < lowest)) {
      if (high === 0 && low < lowest) {
        at = writeSmall(bytes, at, low)
        continue
      }
      const number = numbers[index] as bigint
      rest = Number(number % BigInt(lowest))
      upper = Buffer.from(String(number / BigInt(lowest)), 'latin1')
      baseHigh = high
      baseLow = low - rest
    }
    for (let i = 0; i < upper.length; i++) bytes[at++] = upper[i] as number
    at = writeDigits(bytes, at, rest | 0, lowestDigits)
  }
  at += bytes.write(end, at, 'latin1')
  return bytes.subarray(0, at)
}

/** Writes a number of up to nine digits, without leading zeros. Returns the index behind it. */
function writeSmall(bytes: Buffer, at: number, number: number): number {
  let count = 1
  for (let bound = 10; number >= bound; bound *= 10) count++
  return writeDigits(bytes, at, number, count)
}

/** Writes the last `count` digits of a number below 10^9. Returns the index behind them. */
function writeDigits(bytes: Buffer, at: number, number: number, count: number): number {
  let left = number
  for (let i = at + count - 1; i >= at; i--) {
    const tenth = (left / 10) | 0
    bytes[i] = 48 + left - tenth * 10
    left = tenth
  }
  return at + count
}
