import type { Codecs, Stamp, Wanted, Workload } from '../contract.ts'
import { clockReadings } from '../measure/compare.ts'
import { stampOf } from '../subjects.ts'
import { type Compared, workload } from './compared.ts'

interface Codec extends Pick<Compared, 'name' | 'title'> {
  /**
   * The codec takes a thousand times as long as `toString`, so its yardstick is the clock, and its batches
   * are smaller.
   */
  isSlow?: boolean
  use(codecs: Codecs): ((given: never) => unknown) | undefined
  /** Makes of an id what the codec is given; the id itself by default. */
  given?(id: bigint, codecs: Codecs): unknown
  isRight(result: never, id: bigint, stamp: Stamp, codecs: Codecs): boolean
}

const codecSize = 4096
const slowSize = 64

/** Returns an id for each millisecond. Together they have all values of the bits below. */
function codecIds({ epochMs, shift }: Stamp) {
  const firstMs = BigInt(Date.now() - codecSize - epochMs)
  return Array.from({ length: codecSize }, (_, i) => ((firstMs + BigInt(i)) << BigInt(shift)) | BigInt(i))
}

function codec({ use, given = (id) => id, isRight, isSlow = false, ...rest }: Codec): Workload {
  const wanted: Wanted = { layout: 'twitter', node: 0 }
  return workload({
    ...rest,
    section: 'Codecs',
    yardstick: isSlow ? 'Date.now()' : 'BigInt#toString',
    makeYardstick() {
      if (isSlow) return clockReadings(codecSize)
      const ids = codecIds({ epochMs: 0, shift: 22, perMs: 4096 })
      const texts = new Array<string>(codecSize).fill('')
      const run = () => {
        for (let i = 0; i < codecSize; i++) texts[i] = (ids[i] as bigint).toString()
      }
      return { size: codecSize, run }
    },
    async prepare(subject, loops) {
      const codecs = await subject.codecs?.()
      const convert = codecs && use(codecs)
      const stamp = stampOf(subject, wanted)
      if (codecs === undefined || convert === undefined || stamp === undefined) return undefined
      const ids = codecIds(stamp).slice(0, isSlow ? slowSize : codecSize)
      const { run, results } = loops.keepResults(
        ids.map((id) => given(id, codecs) as never),
        convert,
      )
      const report = () => {
        const wrong = ids.filter((id, i) => !isRight(results[i] as never, id, stamp, codecs)).length
        return { ids: ids.length, repeats: 0, outOfOrder: 0, future: 0, wrong }
      }
      return { batch: { size: ids.length, run }, report }
    },
  })
}

const [upper, lower] = ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz']
/** The orders of digits that packages use. */
const alphabets = [`0123456789${upper}${lower}`, `0123456789${lower}${upper}`]

function readNumber(text: string, alphabet: string) {
  return [...text].reduce((value, digit) => value * 62n + BigInt(alphabet.indexOf(digit)), 0n)
}

export const codecs: readonly Workload[] = [
  codec({
    name: 'encode',
    title: 'encode in base 62',
    use: ({ encode }) => encode,
    isRight: (text: string, id) => alphabets.some((alphabet) => readNumber(text, alphabet) === id),
  }),
  codec({
    name: 'decode',
    title: 'decode',
    use: ({ decode }) => decode,
    isRight: (fields, id, { shift, epochMs }, { timeOf }) =>
      BigInt(timeOf?.(fields) ?? -1) === (id >> BigInt(shift)) + BigInt(epochMs),
  }),
  codec({
    name: 'timestamp',
    title: 'timestampMsOf()',
    use: ({ timestampMsOf }) => timestampMsOf,
    isRight: (timestampMs: number, id, { shift, epochMs }) =>
      BigInt(timestampMs) === (id >> BigInt(shift)) + BigInt(epochMs),
  }),
  ...inSection('Observed ids', [
    codec({
      name: 'observe',
      title: 'observe() of ids of the past',
      use: ({ observer }) => observer?.observe,
      isRight: (seen: bigint, id, _stamp, { observer }) => seen === id && (observer?.next() ?? 0n) > id,
    }),
  ]),
  ...inSection('Kinds', [...ofKind('typed', 'kind'), ...ofKind('opaque', 'kind-opaque')]),
  ...inSection('Masks', [
    codec({
      name: 'mask-hide',
      title: 'mask.hide()',
      isSlow: true,
      use: ({ hide }) => hide,
      isRight: (hidden: bigint, id, _stamp, { reveal }) => hidden !== id && reveal?.(hidden) === id,
    }),
    codec({
      name: 'mask-reveal',
      title: 'mask.reveal()',
      isSlow: true,
      use: ({ reveal }) => reveal,
      isRight: (revealed: bigint, id, _stamp, { hide }) => revealed !== id && hide?.(revealed) === id,
    }),
  ]),
]

/** Puts workloads into a section of their own, which can be measured again alone. */
function inSection(section: string, workloads: readonly Workload[]): Workload[] {
  return workloads.map((workload) => ({ ...workload, section, of: 'graupel' }))
}

/** Times both directions of a kind. */
function ofKind(kind: string, name: string): Workload[] {
  return [
    codec({
      name: `${name}-text`,
      title: `text() of a kind, ${kind}`,
      use: ({ kinds }) => kinds?.[kind]?.text,
      isRight: (text: string, id, _stamp, { kinds }) => kinds?.[kind]?.id(text) === id,
    }),
    codec({
      name: `${name}-id`,
      title: `id() of a kind, ${kind}`,
      use: ({ kinds }) => kinds?.[kind]?.id,
      given: (id, { kinds }) => kinds?.[kind]?.text(id),
      isRight: (read: bigint, id) => read === id,
    }),
  ]
}
