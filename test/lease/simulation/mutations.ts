import type { Known } from '../../simulation/noticed.ts'
import { clockAhead, type Faults, type Setting } from './shape.ts'

/** A defect, and the worlds that show it best. */
export interface Shown extends Known, Setting {
  /**
   * The rule of docs/lease-proof.md that it removes, in the same way as model/lease.pml does without this
   * rule.
   */
  readonly rule?: string
}

const protocol = 'lease/protocol.ts'
const serverLife = 'lease/server-life.ts'
const nodeSearch = 'lease/node-search.ts'
const calls = 'stores/calls.ts'
const forgetful = { durable: false }
const durable = { durable: true }
/** The longest window of a store that forgets, and clocks as far apart as allowed. */
const edge = { windowMs: 10_000, maxClockSkewMs: 2000, clockMs: 1, tickMs: 10 }

/** Two processes and one node, for which they wait. */
const duel = { processes: 2, nodes: 1, clockMs: 1, tickMs: 10, steps: 8, stepMs: 8000, beginsWell: true }
/** Mostly processes that are stopped in the middle of a call, and a server that fails over. */
const stopped: Partial<Faults> = {
  lostRequest: 0,
  lostReply: 0,
  slow: 0,
  pauseInCall: 0.03,
  lossInCall: 0.005,
  failover: 1,
  flush: 0,
  restart: 0,
  cut: 0,
  pause: 1,
  crash: 0.2,
  clockStep: 0,
  replica: 0,
  migrate: 0,
  evict: 0,
  release: 0,
}

const wentBack = 'throw this.#wentBack(key, nowMs, forgottenMs)'
const oldVersion = 'if (found?.version !== expected) return { landed: false, found }'
const groupAgain = `    const entry = await this.#parts.calls.read(life.key, signal)
    if (entry?.version !== life.version) return false
`
const lifeAgain = 'return (await this.#parts.calls.incarnation(signal, life.key)) === life.incarnation'

export const mutations: Shown[] = [
  {
    defect: 'there is no floor',
    seed: 1,
    file: protocol,
    from: 'const floor = Math.max(',
    to: 'const floor = 0 * Math.max(',
    ...durable,
  },
  {
    rule: 'B3',
    defect: "the floor is the store's time, instead of the ceiling that was granted",
    seed: 6,
    file: protocol,
    from: 'record?.ceiling ?? this.#parts.group.tickAt(proof.nowMs)',
    to: 'this.#parts.group.tickAt(proof.nowMs)',
    ...durable,
  },
  {
    defect: "the floor is the local clock's time",
    seed: 6,
    file: protocol,
    from: 'record?.ceiling ?? this.#parts.group.tickAt(proof.nowMs)',
    to: 'this.#parts.group.tickAt(this.#parts.clock.wallMs())',
    ...durable,
  },
  {
    defect: 'what may have been forgotten does not raise the floor',
    seed: 8,
    file: protocol,
    from: 'Math.max(granted, this.#parts.group.tickAt(proof.forgottenMs))',
    to: 'granted',
    ...forgetful,
  },
  {
    rule: 'A2',
    defect: 'the ceiling is raised before the acknowledgement',
    seed: 7,
    file: protocol,
    from: 'this.#write(holding, { ...record, ceiling }, signal)',
    to: 'this.#write(holding, { ...record, ceiling }, signal).catch(() => ({ ...holding, record: { ...record, ceiling } }))',
    ...durable,
  },
  {
    defect: 'a node that another has gets a new window',
    seed: 225,
    file: protocol,
    from: "if (written === undefined) return 'lost'",
    to: 'if (written === undefined) return { ...holding, record: { ...record, ceiling } }',
    ...durable,
  },
  {
    rule: 'C6',
    defect: 'a lapsed lease is renewed',
    seed: 76,
    file: protocol,
    from: 'const endMs = this.#parts.group.timeOf(record.ceiling)\n    const',
    to: 'const endMs = Number.POSITIVE_INFINITY\n    const',
    ...forgetful,
    faults: stopped,
    shape: { ...duel, windowMs: 6000, maxClockSkewMs: 100 },
  },
  {
    defect: 'a renewal counts that is told after the old ceiling',
    seed: 1539,
    file: protocol,
    from: "if ((await this.#storeClock.nowMs(key, signal)) >= endMs) return 'lapsed'",
    to: '',
    ...forgetful,
    faults: stopped,
    shape: { ...duel, windowMs: 6000, maxClockSkewMs: 100 },
  },
  {
    rule: 'B2',
    defect: 'a renewal lowers the ceiling',
    seed: 47,
    file: protocol,
    from: 'Math.max(record.ceiling, this.#parts.group.tickAt(nowMs + this.#parts.rules.windowMs))',
    to: 'this.#parts.group.tickAt(nowMs + this.#parts.rules.windowMs)',
    ...durable,
    faults: { failover: 4 },
  },
  {
    defect: 'a node is given back below the floor',
    seed: 464,
    file: protocol,
    from: 'Math.max(record.floor, Math.min(record.ceiling, nextTick))',
    to: 'Math.min(record.ceiling, nextTick)',
    ...durable,
  },
  {
    rule: 'C2',
    defect: 'the incarnation is ignored',
    seed: 5,
    file: serverLife,
    from: 'entry === undefined || seen?.incarnation !== incarnation',
    to: 'entry === undefined || seen === undefined',
    ...forgetful,
  },
  {
    defect: 'the incarnation is not read again',
    seed: 7,
    file: serverLife,
    from: lifeAgain,
    to: 'return true',
    ...forgetful,
    faults: { lossInCall: 0.04, flush: 0 },
  },
  {
    defect: "the group's record is not read again",
    seed: 34,
    file: serverLife,
    from: groupAgain,
    to: '',
    ...forgetful,
    faults: { lossInCall: 0.04 },
  },
  {
    defect: "the group's record is read after the incarnation",
    seed: 979564531,
    file: serverLife,
    from: `${groupAgain}    ${lifeAgain}`,
    to: `    if ((await this.#parts.calls.incarnation(signal, life.key)) !== life.incarnation) return false
    const entry = await this.#parts.calls.read(life.key, signal)
    return entry?.version === life.version`,
    ...forgetful,
    faults: { lossInCall: 0.06, flush: 2 },
  },
  {
    defect: 'a server is believed too early by the skew of the clocks',
    seed: 200214081,
    file: serverLife,
    from: 'seen.sinceMs + maxForgottenMs + this.#parts.rules.maxClockSkewMs',
    to: 'seen.sinceMs + maxForgottenMs',
    ...forgetful,
    shape: edge,
  },
  {
    defect: 'a lease is expired too early by the skew of the clocks',
    seed: 342683696,
    file: nodeSearch,
    from: ': endMs + this.#parts.rules.maxClockSkewMs',
    to: ': endMs',
    ...forgetful,
    faults: stopped,
    shape: { ...duel, windowMs: 4000, maxClockSkewMs: 4000 },
  },
  {
    defect: "a write of its own that lands late is taken for another's",
    seed: 491,
    file: protocol,
    from: '!this.#unknown.has(found.attempt)',
    to: 'found.attempt !== record.attempt',
    ...durable,
    faults: { slow: 0.3, lostRequest: 0.3, pauseInCall: 0, pause: 0, crash: 0 },
    shape: { windowMs: 10_000 },
  },
  {
    defect: 'a lease never expires',
    seed: 164742775,
    file: nodeSearch,
    from: ': this.freeAtMs(record) < nowMs',
    to: ': record.isReleased && this.freeAtMs(record) < nowMs',
    ...durable,
  },
  {
    defect: 'an old version is taken for a failure',
    seed: 694814139,
    file: calls,
    from: oldVersion,
    to: 'return { landed: false, found }',
    ...durable,
  },
  {
    defect: 'a conflict is taken at its word',
    seed: 8,
    file: calls,
    from: "if (version !== undefined) throw this.#invalid('write', version, 'the new version, or undefined')",
    to: 'if (version === undefined) return { landed: false, found: undefined }',
    ...durable,
  },
  {
    rule: 'B4',
    defect: 'an attempt expects what the one before has found',
    file: calls,
    from: oldVersion,
    to: 'expected = found?.version',
    ...durable,
  },
  {
    defect: 'whatever came after the expected version is taken for our own',
    file: calls,
    from: oldVersion,
    to: 'if (found !== undefined && found.version !== expected) return { landed: true, version: found.version }',
    ...durable,
  },
  {
    rule: 'B5',
    defect: 'a value that can be read is taken for an acknowledgement',
    file: calls,
    from: 'if (found?.value === value) expected = found.version',
    to: 'if (found?.value === value) return { landed: true, version: found.version }',
    ...durable,
    faults: { replica: 3 },
  },
  {
    defect: 'another server of the cluster answers for the life',
    seed: 871441498,
    file: calls,
    from: 'this.store.incarnation?.(own, key)',
    to: 'this.store.incarnation?.(own)',
    ...forgetful,
    faults: { migrate: 3, evict: 0 },
  },
  {
    rule: 'C5',
    defect: 'the life is recorded apart from the leases',
    seed: 434572298,
    file: 'lease/group.ts',
    from: 'return this.folderOf(shard) + lifeName',
    to: "return 'lives/0'",
    ...forgetful,
    faults: { evict: 2, migrate: 0 },
  },
  {
    rule: 'B1',
    defect: 'a write replaces whatever is there',
    file: calls,
    from: 'this.store.write(key, value, expected, own)',
    to: 'this.store.read(key).then((now) => this.store.write(key, value, now?.version, own))',
    ...durable,
  },
  {
    rule: 'C1',
    defect: 'windows are longer than a forgotten ceiling may be',
    seed: 6,
    file: serverLife,
    from: 'maxForgottenMs = 10_000',
    to: 'maxForgottenMs = 0',
    ...forgetful,
    shape: { windowMs: 10_000 },
  },
  {
    rule: 'C3',
    defect: 'a server that has just started is trusted',
    seed: 640860210,
    file: serverLife,
    from: `if (nowMs > forgottenMs) {
        return { nowMs, beforeMs, forgottenMs,`,
    to: `if (nowMs > 0) {
        return { nowMs, beforeMs, forgottenMs: 0,`,
    ...forgetful,
  },
  {
    rule: 'C4',
    defect: 'nothing is read again after a node is taken',
    seed: 555792000,
    file: serverLife,
    from: 'if (life === undefined) return true',
    to: 'if (life === undefined || life.key !== undefined) return true',
    ...forgetful,
    faults: { lossInCall: 0.04 },
  },
  {
    defect: 'a clock that was ahead is waited for',
    seed: 58,
    file: serverLife,
    from: `if (seen.sinceMs > nowMs + this.#parts.rules.maxClockSkewMs) ${wentBack}`,
    to: '',
    ...clockAhead,
  },
  {
    defect: 'a time that was ahead is replaced by the present time',
    seed: 550,
    file: serverLife,
    from: wentBack,
    to: `{
        await this.#write(key, incarnation, Math.ceil(nowMs), entry.version, signal)
        continue
      }`,
    ...clockAhead,
  },
]
