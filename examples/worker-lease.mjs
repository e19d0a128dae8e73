// Ids in a Cloudflare Worker, on a node that a Durable Object leases from a graupel-server.
//
//   npx graupel-server --leases --host 0.0.0.0 --token-file tokens
//   npm install graupel
//   npx wrangler deploy, with a binding LEASE of the class NodeLease, and GRAUPEL_URL and GRAUPEL_TOKEN
//
// GET /?count=100 answers ids of layout twitter, as JSON. All Workers ask one object, which has one node. It
// has no timer: it renews its lease when a request comes and a third of the window has passed.
// docs/wire.md explains each step.
import { serviceStore } from 'graupel/stores/service'

const epochMs = 1288834974657 // layout twitter: a tick is 1 ms, 10 bits of node at 12, 12 bits of sequence
const [nodes, sequences] = [1024, 4096]
const skewMs = 1000 // as maxClockSkewMs in all processes of the group

export class NodeLease {
  #tick = -1
  #sequence = sequences
  /** The node, its record and its version. */
  #held
  /** The time of the object's clock before the store's clock was read for the last renewal. */
  #begunMs = Number.NEGATIVE_INFINITY
  #renewing
  #windowMs
  #store
  #group
  #ids

  constructor(
    _state,
    { GRAUPEL_URL: url, GRAUPEL_TOKEN: token, NAMESPACE: namespace = 'default', WINDOW_MS = '6000' },
  ) {
    this.#store = serviceStore({ url, token, fetch: (...words) => fetch(...words) })
    this.#windowMs = Number(WINDOW_MS)
    this.#ids = `timestamp 41 at 22, sequence 12 at 0, node 0x3ff000; epoch ${epochMs}, tick 1 ms; namespace ${namespace}`
    let hash = 0x811c9dc5 // FNV-1a
    for (const byte of new TextEncoder().encode(this.#ids)) hash = Math.imul(hash ^ byte, 0x01000193)
    const readable = namespace.replace(/[^A-Za-z0-9_-]/gu, '_').slice(0, 40)
    this.#group = `${readable}-${(hash >>> 0).toString(16).padStart(8, '0')}`
  }

  async fetch(request) {
    const count = Number(new URL(request.url).searchParams.get('count') ?? 1)
    if (!(Number.isInteger(count) && count > 0 && count <= 10_000))
      return new Response('count is 1 to 10000', { status: 400 })
    try {
      // One renewal at a time, because requests of an object interleave where they wait.
      this.#renewing ??= this.#renew().finally(() => {
        this.#renewing = undefined
      })
      await this.#renewing
      return Response.json({ ids: Array.from({ length: count }, () => `${this.#next()}`) })
    } catch (error) {
      return new Response(error.message, { status: 503 })
    }
  }

  /** Makes an id below the ceiling. The clock stands still, so a tick that is used up is left behind. */
  #next() {
    if (this.#held === undefined) throw new Error('the object has no node')
    const { node, record } = this.#held
    let tick = Math.max(Date.now() - epochMs, record.floor, this.#tick)
    if (tick === this.#tick && this.#sequence === sequences - 1) tick++
    if (tick >= record.ceiling) throw new Error('the lease has expired; try again')
    this.#sequence = tick === this.#tick ? this.#sequence + 1 : 0
    this.#tick = tick
    return (BigInt(tick) << 22n) | BigInt(node << 12) | BigInt(this.#sequence)
  }

  async #renew() {
    const begunMs = Date.now()
    if (this.#held !== undefined && begunMs - this.#begunMs < this.#windowMs / 3) return
    try {
      const now = await this.#now()
      const { node, record, version } = this.#held ?? {}
      const ceiling = Math.max(record?.ceiling ?? 0, now + this.#windowMs)
      // After the ceiling, another process may have the node.
      const isHeld = record !== undefined && now < record.ceiling
      if (!(isHeld && (await this.#put(node, version, { ...record, ceiling })))) await this.#acquire()
      this.#begunMs = begunMs
    } catch (error) {
      // Ids go on up to the ceiling.
      if (this.#held === undefined) throw error
    }
  }

  async #acquire() {
    const key = `groups/${this.#group}`
    if ((await this.#store.read(key)) === undefined) {
      const about = { format: 1, ids: this.#ids, nodes, epochMs, tickMs: 1 }
      await this.#write(key, { ...about, incarnation: '', sinceMs: 0, attempt: crypto.randomUUID() }, undefined)
    }
    for (let tries = 0; tries < 8; tries++) {
      const now = await this.#now()
      const records = new Map()
      for (const { key, value, version, damage } of await this.#store.list(`leases/${this.#group}/0/`)) {
        const record = JSON.parse(value)
        if (damage !== undefined || record.format !== 1 || record.ids !== this.#ids)
          throw new Error(`the record ${key} is damaged, or for other ids`)
        records.set(Number(key.slice(key.lastIndexOf('/') + 1)), { record, version })
      }
      const isFree = ({ ceiling, isReleased }) => ceiling + (isReleased ? -skewMs : skewMs) < now
      const all = Array.from({ length: nodes }, (_, node) => node)
      const free = all.filter((node) => !records.has(node) || isFree(records.get(node).record))
      const used = free.filter((node) => records.has(node))
      if (free.length === 0) throw new Error('all nodes are held')
      const choice = used.length > 0 ? used : free
      const node = choice[Math.floor(Math.random() * choice.length)]
      const old = records.get(node)
      // Above every tick that a former holder may have used, and above the ids of this object.
      const floor = Math.max(old?.record.ceiling ?? now, this.#tick + 1)
      const ceiling = Math.max(floor, now + this.#windowMs)
      const lease = { owner: 'Durable Object', token: crypto.randomUUID(), windowMs: this.#windowMs }
      if (await this.#put(node, old?.version, { ...lease, floor, ceiling, isReleased: false })) return
    }
    throw new Error('other processes were faster, eight times in a row')
  }

  /** Writes the record of a node with a new attempt, and keeps it if that counts. */
  async #put(node, expected, given) {
    const until = new Date(given.ceiling + epochMs).toISOString()
    const record = { ...given, attempt: crypto.randomUUID(), until }
    const key = `leases/${this.#group}/0/${node}`
    const version = await this.#write(key, { format: 1, ids: this.#ids, ...record }, expected)
    if (version !== undefined) this.#held = { node, record, version }
    return version !== undefined
  }

  /**
   * Writes over a version. A conflict may be with an earlier attempt of this call, whose answer was lost.
   * Only an answered write counts, so it is then written again over its own version.
   */
  async #write(key, record, expected) {
    const value = JSON.stringify(record)
    for (let tries = 0; ; tries++) {
      try {
        const version = await this.#store.write(key, value, expected, AbortSignal.timeout(2000))
        if (version !== undefined) return version
        const found = await this.#store.read(key, AbortSignal.timeout(2000))
        if (found?.value === value) expected = found.version
        else if (found?.version !== expected) return undefined
      } catch (error) {
        // An error of the service has a code. A timeout has a number, as each DOMException.
        if (tries >= 3 || typeof error.code === 'string') throw error
      }
    }
  }

  /** The tick that the clock of the store shows. */
  async #now() {
    return Math.floor(await this.#store.nowMs(AbortSignal.timeout(2000))) - epochMs
  }
}

export default {
  fetch: (request, { LEASE }) => LEASE.get(LEASE.idFromName('ids')).fetch(request),
}
