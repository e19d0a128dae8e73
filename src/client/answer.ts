import { GraupelError, show } from '../core/errors.js'
import { onAbort } from '../core/timing.js'
import type { Layout } from '../layout/index.js'
import { bytesOfRun, faultOf, Runs, runsType } from './runs.js'

/** The part of an answer of `fetch` that a client uses. */
export interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly body: { getReader(): Reader; cancel(): Promise<unknown> } | null
}

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<unknown>
}

/** A request, as far as the answer is checked against it. */
export interface Asked {
  readonly url: string
  readonly count: number
  /** `undefined` for numbers of a segment. */
  readonly layout: Layout | undefined
}

/** The most bytes that are read of a refusal, whose text is short. */
const maxProblemBytes = 16_384

/**
 * Reads the runs of an answer with status 200 into memory of their own. An answer with any fault is not used
 * at all.
 *
 * @throws GraupelError `ERR_SERVICE_INVALID`; an error of the body's stream
 */
export async function readRuns(answer: Answer, asked: Asked, signal: AbortSignal): Promise<Runs> {
  const { url, count, layout } = asked
  const fault = headerFault(answer, asked)
  if (fault !== undefined) {
    answer.body?.cancel().catch(() => {})
    throw invalid(url, fault)
  }
  const bytes = await readBody(answer, count * bytesOfRun, signal)
  if (bytes === undefined) throw invalid(url, `has more than the ${count * bytesOfRun} bytes of ${count} runs`)
  if (bytes.length % bytesOfRun !== 0) throw invalid(url, `has ${bytes.length} bytes, and a run has ${bytesOfRun}`)
  const runs = new Runs(bytes)
  const wrong = faultOf(runs, count, layout)
  if (wrong !== undefined) throw invalid(url, wrong)
  return runs
}

/** Reads the text of a refusal. A text of more than 16 KiB counts as empty. */
export async function readText(answer: Answer, signal: AbortSignal): Promise<string> {
  const bytes = await readBody(answer, maxProblemBytes, signal)
  return new TextDecoder().decode(bytes)
}

/** Makes the error of an answer that cannot be used. @param fault - A sentence without its subject. */
export function invalid(url: string, fault: string): GraupelError {
  return new GraupelError(
    'ERR_SERVICE_INVALID',
    `the answer of ${url} ${fault}; nothing of it is used. Look for a proxy in between, or for another service at this URL`,
  )
}

function headerFault({ headers }: Answer, { layout }: Asked): string | undefined {
  const header = (name: string) => headers.get(name)
  const [type = ''] = (header('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== runsType) {
    return `has the content type ${show(header('content-type') ?? '')}, and not ${runsType}`
  }
  if (header('graupel-byte-order') !== 'little-endian') {
    return `has ${show(header('graupel-byte-order') ?? '')} for Graupel-Byte-Order, and not 'little-endian'`
  }
  if (layout !== undefined && header('graupel-layout') !== layout.name) {
    return `has ids of layout ${show(header('graupel-layout') ?? '')}, and ${show(layout.name)} was asked for`
  }
  if (header('age') !== null) return 'has an Age: a cache has kept it, and may give its ids to other clients'
  return undefined
}

/**
 * Copies at most `most` bytes, because a `fetch` may use its own memory again. Returns `undefined` if there
 * are more.
 */
async function readBody({ body }: Answer, most: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
  let bytes = new Uint8Array(0)
  if (body === null) return bytes
  const reader = body.getReader()
  const cancel = () => {
    reader.cancel().catch(() => {})
  }
  onAbort(signal, cancel)
  for (;;) {
    const { done, value } = await reader.read()
    if (done || value === undefined) return bytes
    if (bytes.length + value.length > most) {
      cancel()
      return undefined
    }
    const longer = new Uint8Array(bytes.length + value.length)
    longer.set(bytes)
    longer.set(value, bytes.length)
    bytes = longer
  }
}
