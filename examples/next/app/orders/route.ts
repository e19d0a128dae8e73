import { GraupelError } from 'graupel'
import { ids } from '../../ids'

export async function POST(request: Request) {
  const { item } = await request.json()
  if (typeof item !== 'string') return Response.json({ message: 'give an item' }, { status: 400 })
  try {
    const id = await (await ids()).nextAsync() // a bigint, as a database takes it
    return Response.json({ id: String(id), item }, { status: 201 }) // Response.json() refuses a bigint
  } catch (error) {
    if (!(error instanceof GraupelError)) throw error
    // No id can be made now: the store was unreachable for too long, or the clock was set back.
    console.error(`${error.code}: ${error.message}`)
    const seconds = Math.max(1, Math.ceil((error.retryAfterMs ?? 0) / 1000))
    const headers = { 'Retry-After': `${seconds}` }
    return Response.json({ message: 'try again later', code: error.code }, { status: 503, headers })
  }
}
