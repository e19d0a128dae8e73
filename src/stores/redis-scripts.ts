import { GraupelError, showNoText } from '../core/errors.js'
import { newVersion } from './record.js'

// Every call is a script: it runs in one step, and on the primary, whereas clients may send plain reads to
// replicas. PERSIST changes nothing, but replicas refuse it as a write. So no read returns the old data of a
// replica.
const scripts = {
  read: `
redis.call('PERSIST', KEYS[1])
return redis.call('HGET', KEYS[1], ARGV[1]) or ''`,
  // An empty table becomes '{}'.
  list: "return cjson.encode(redis.call('HGETALL', KEYS[1]))",
  // A value is stored behind its version, which has 36 characters.
  write: `
redis.call('PERSIST', KEYS[1])
local found = redis.call('HGET', KEYS[1], ARGV[1])
if (found and string.sub(found, 1, 36) or '') ~= ARGV[2] then return '' end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 'written'`,
  remove: `
redis.call('PERSIST', KEYS[1])
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found or string.sub(found, 1, 36) ~= ARGV[2] then return '' end
redis.call('HDEL', KEYS[1], ARGV[1])
return 'removed'`,
  // Returns the sum as text, because Lua's numbers hold 53 bits.
  add: "redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2]) return redis.call('HGET', KEYS[1], ARGV[1])",
  time: "local now = redis.call('TIME') return 'now:' .. now[1] .. ' ' .. now[2] .. '\\n' .. redis.call('INFO', 'memory')",
  // A client may put a prefix of its own before the key.
  place: "return KEYS[1] .. ' ' .. redis.call('INFO', 'server')",
  info: "return redis.call('INFO', 'server') .. redis.call('INFO', 'replication') .. redis.call('INFO', 'memory')",
} as const

/** The name of a script. */
export type Script = keyof typeof scripts

/**
 * A command, and the proof that an answer is the answer to it. A client that loses step with its server gives
 * one call the answer to another, or pieces of two: node-redis 4 does after a connection that broke within an
 * answer. So each call has a random text, and its script returns that text around the answer.
 */
export interface Command {
  readonly words: [string, ...string[]]
  /**
   * Returns the answer of the script. @throws GraupelError `ERR_STORE_INVALID`; `ERR_STORE_UNSAFE` in MULTI
   */
  answerOf(reply: unknown): string
}

/** Makes the command that runs a script on a hash. */
export function commandFor(script: Script, hash: string, given: readonly string[]): Command {
  const call = newVersion()
  const [before, after] = [`${call}(`, `)${call}`]
  const proving = `
local function answer() ${scripts[script]} end
local call = ARGV[#ARGV]
return call .. '(' .. answer() .. ')' .. call`
  return {
    words: ['EVAL', proving, '1', hash, ...given, call],
    answerOf(reply) {
      const text = textOf(reply)
      if (text.startsWith(before) && text.endsWith(after)) return text.slice(before.length, -after.length)
      if (text === 'QUEUED') {
        throw new GraupelError(
          'ERR_STORE_UNSAFE',
          'the client of Redis is inside MULTI, so the server runs the calls of the store later, or never; give the store a client of its own',
        )
      }
      throw new GraupelError(
        'ERR_STORE_INVALID',
        `the client of Redis answered a call with ${showNoText(reply)} that is not the answer to it, and may mix up all later answers; create the client anew; of node-redis use version 5 or later`,
      )
    },
  }
}

/** Reads a reply that is a text, or bytes if the client is set so. Another reply counts as an empty text. */
export function textOf(reply: unknown): string {
  if (typeof reply === 'string') return reply
  return reply instanceof Uint8Array ? new TextDecoder().decode(reply) : ''
}
