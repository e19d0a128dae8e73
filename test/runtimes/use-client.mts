import { connect } from 'graupel/client'

/** Uses ids of a service like a program, and returns their number. @throws Error with the fault */
export async function useClient(url: string): Promise<number> {
  const ids = await connect({ url })
  const made = [ids.next(), await ids.nextAsync(), ...(await ids.fillAsync(new BigUint64Array(5000))), ...ids.take(10)]
  const isAscending = made.every((id, i) => i === 0 || id > (made[i - 1] as bigint))
  if (!isAscending) throw new Error('ids of the service do not ascend')
  const { timestampMs } = ids.decode(made[0] as bigint)
  // The time is the host's, because this runtime's clock may be frozen.
  if (timestampMs < Date.UTC(2025)) throw new Error(`an id of the service is of ${timestampMs}`)
  ids.close()
  const refusal = await ids.nextAsync().then(
    () => undefined,
    (error) => error,
  )
  if (refusal?.code !== 'ERR_CLOSED') throw new Error(`after close(): ${refusal}`)
  return made.length
}
