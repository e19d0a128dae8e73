import type { TextEncoding } from 'graupel'
import { shown } from '../failure.js'
import { textEncodings } from '../http/number-form.js'
import { oneOf, wholeNumber } from '../http/parameters.js'
import { Problem } from '../http/problems.js'
import type { ServedLayout } from '../routes/ids.js'
import { blockOf, type Demand, demandOf, type IdWish, idPrefix, idsOf, type Sources } from './demands.js'
import { bulk, integer, list, listHead, map, Refused, simple } from './replies.js'
import { authenticate, client, fresh, hello, isAllowed, redisVersion, type Session } from './session.js'

/** A reply: all of it, or its head and the numbers that follow the head. */
export type Reply = string | { readonly head: string; readonly demands: readonly Demand[] }

interface Command {
  /** The fewest and the most words, its name included. */
  readonly words: readonly [least: number, most: number]
  /** Whether a client without a token may send it. */
  readonly isOpen?: boolean
  run(words: readonly string[], session: Session, sources: Sources): Reply
}

const any = Number.POSITIVE_INFINITY
const ok = simple('OK')

const commands: Readonly<Record<string, Command>> = {
  PING: { words: [1, 2], run: ([, text]) => (text === undefined ? simple('PONG') : bulk(text)) },
  ECHO: { words: [2, 2], run: ([, text]) => bulk(text as string) },
  AUTH: {
    words: [2, 3],
    isOpen: true,
    run(words, session, sources) {
      authenticate(words.at(-1) as string, session, sources)
      return ok
    },
  },
  HELLO: { words: [1, 7], isOpen: true, run: hello },
  SELECT: {
    words: [2, 2],
    run([, index]) {
      if (index === '0') return ok
      throw new Refused('ERR', 'DB index is out of range: the service has one set of names; select 0')
    },
  },
  CLIENT: { words: [2, any], run: client },
  COMMAND: {
    words: [1, any],
    run: ([, part]) => (part?.toUpperCase() === 'COUNT' ? integer(Object.keys(commands).length) : list([])),
  },
  // Clients such as ioredis wait until `loading` is 0.
  INFO: {
    words: [1, any],
    run: () =>
      bulk(
        `# Server\r\nserver_name:graupel\r\nredis_version:${redisVersion}\r\nredis_mode:standalone\r\n# Persistence\r\nloading:0\r\n# Replication\r\nrole:master\r\n`,
      ),
  },
  QUIT: {
    words: [1, any],
    isOpen: true,
    run(_, session) {
      session.isEnding = true
      return ok
    },
  },
  RESET: {
    words: [1, 1],
    isOpen: true,
    run(_, session) {
      Object.assign(session, fresh)
      return simple('RESET')
    },
  },
  INCR: { words: [2, 2], run: ([, key = ''], _, sources) => of(demandOf(key, 1, sources)) },
  INCRBY: { words: [3, 3], run: ([, key = '', count = ''], _, sources) => of(blockOf(key, count, sources)) },
  GET: { words: [2, 2], run: ([, key = ''], _, sources) => of(idsOf(key, 1, sources)) },
  MGET: {
    words: [2, any],
    run: ([, ...keys], _, sources) => ({
      head: listHead(keys.length),
      demands: keys.map((key) => idsOf(key, 1, sources)),
    }),
  },
  'ID.NEXT': {
    words: [2, any],
    run([, text = '', ...options], _, sources) {
      const { layout = sources.layouts.keys().next().value as string, ...wish } = readWish(options, sources)
      const { maxCount } = sources.layouts.get(layout) as ServedLayout
      const count = wholeNumber('n', 1, maxCount).read('n', text)
      return { head: listHead(count), demands: [idsOf(idPrefix + layout, count, sources, wish)] }
    },
  },
  'ID.DECODE': {
    words: [2, 4],
    run([, id = '', ...options], { protocol }, { decode, readable }) {
      const { fields, tags, ...parts } = decode(id, readLayout(options, readable))
      const replies = (given: object) =>
        Object.fromEntries(Object.entries(given).map(([name, value]) => [name, replyOf(value)]))
      const numbers = (given: object) => map(replies(given), protocol)
      return map({ ...replies(parts), fields: numbers(fields), ...(tags && { tags: numbers(tags) }) }, protocol)
    },
  },
}

const formats = oneOf('how ids are written', textEncodings)

/** Reads the words of `ID.DECODE` behind the id. @throws Problem, Refused */
function readLayout([word, value]: readonly string[], readable: Sources['readable']): { readonly layout?: string } {
  if (word === undefined) return {}
  if (word.toUpperCase() !== 'LAYOUT' || value === undefined) {
    throw new Refused('ERR', `Syntax error in ID.DECODE at ${shown(word)}; give LAYOUT and a name, or the id alone`)
  }
  return { layout: oneOf('the layout of the id', [...readable.keys()]).read('LAYOUT', value) }
}

/** Reads the words of `ID.NEXT` behind the count. @throws Problem, Refused */
function readWish(words: readonly string[], { layouts }: Sources): IdWish & { readonly layout?: string } {
  const given = new Map<string, string>()
  const served = oneOf('the layout of the ids', [...layouts.keys()])
  const tags = new Map<string, string>()
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const name = word.toUpperCase()
    if (name === 'TAG') {
      const [tag, value] = [rest.shift(), rest.shift()]
      if (tag === undefined || value === undefined) {
        throw new Refused('ERR', 'Syntax error: TAG has no name and value; give TAG, a name and a number')
      }
      if (tags.has(tag)) throw new Problem('ERR_OPTION_INVALID', `TAG ${shown(tag)} is given twice; give it once`)
      tags.set(tag, value)
      continue
    }
    const isNamed = name === 'AFTER' || name === 'LAYOUT'
    const [option, value] = isNamed ? [name, rest.shift()] : ['FORMAT', formats.read('FORMAT', word.toLowerCase())]
    if (value === undefined) throw new Refused('ERR', `Syntax error: ${option} has no value; give ${option} and a word`)
    if (given.has(option)) throw new Problem('ERR_OPTION_INVALID', `${option} is given twice; give it once`)
    given.set(option, value)
  }
  const [format, layout, after] = ['FORMAT', 'LAYOUT', 'AFTER'].map((option) => given.get(option))
  return {
    form: format as TextEncoding | undefined,
    after,
    tags,
    ...(layout !== undefined && { layout: served.read('LAYOUT', layout) }),
  }
}

/** The names of all commands. */
export const commandNames: ReadonlySet<string> = new Set(Object.keys(commands))

/** Answers a command, or says which numbers its answer needs. @throws Refused, Problem, NameError */
export function planOf(name: string, words: readonly string[], session: Session, sources: Sources): Reply {
  if (name === 'MULTI' || session.isInTransaction) refuseTransaction(name, words, session)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command?.isOpen !== true && !isAllowed(session, sources)) {
    throw new Refused('NOAUTH', 'Authentication required: send AUTH and a token of the service')
  }
  if (command?.isOpen !== true) session.client?.takeRequest()
  if (command === undefined) {
    throw new Refused(
      'ERR',
      `unknown command ${shown(words[0])}: this is graupel-server, which gives ids and numbers and stores nothing; use ${[...commandNames].join(', ')}`,
    )
  }
  const [least, most] = command.words
  if (words.length < least || words.length > most) {
    throw new Refused('ERR', `wrong number of arguments for '${name.toLowerCase()}' command`)
  }
  if (words.some((word) => word.includes('\ufffd'))) {
    throw new Problem(
      'ERR_REQUEST_INVALID',
      'a word has bytes that are no UTF-8, or the character U+FFFD; send other text in UTF-8',
    )
  }
  return command.run(words, session, sources)
}

/**
 * Refuses `MULTI` and all commands up to its `EXEC`. Otherwise the commands of a refused transaction would
 * use up numbers. @throws Refused
 */
function refuseTransaction(name: string, words: readonly string[], session: Session): void {
  const isLeft = (name === 'RESET' || name === 'QUIT') && words.length === 1
  session.isInTransaction = !isLeft && name !== 'EXEC' && name !== 'DISCARD'
  if (isLeft) return
  throw new Refused(
    'ERR',
    `${name === 'MULTI' ? name : 'a command after MULTI'} came, and the service has no transactions: it carries out nothing up to EXEC; send the commands without MULTI`,
  )
}

function of(demand: Demand): Reply {
  return { head: '', demands: [demand] }
}

function replyOf(value: string | number): string {
  return typeof value === 'number' ? integer(value) : bulk(value)
}
