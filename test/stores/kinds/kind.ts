import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { headersOfThisNode } from '../../../scripts/node-headers.js'
import type { Store } from '../../../src/stores/store.js'
import { installOnce } from '../../package/consumer.ts'
import { repository } from '../../support/documents.ts'
import type { Server } from '../servers.ts'

/** A kind of database that has a server, and every client of it that the documents name. */
export interface ServerKind {
  readonly name: string
  /** What is not installed and it needs. */
  readonly missing: () => string | undefined
  /** Starts a server that holds nothing. */
  start(): Promise<Server>
  /** As a user makes them: with their defaults. */
  readonly clients: Readonly<Record<string, Open>>
  /** Those that send a write again by themselves when its reply is lost, and meet what they have written. */
  readonly resending?: readonly string[]
  /** How a text looks in what its clients send, if not as it is. */
  readonly onWire?: (text: string) => string
  /** Spoken to by `fetch`: there is no client that could be closed. */
  readonly isFetched?: true
  /** Not started by the tests, so that they cannot end it, or be between it and a client. */
  readonly isElsewhere?: true
}

export interface Opened {
  readonly store: Store & { setup?(): Promise<void> }
  /** Ends the client. */
  close(): unknown
}

/** @param at - The port of a server, or the file of a database. */
export type Open<At = number> = (at: At) => Promise<Opened>

export const host = '127.0.0.1'

const headers = headersOfThisNode()

/** A client's module, which is installed first if need be. */
export function load(name: string, folder = 'clients') {
  // What has to be compiled need not be fast. node-gyp would download the headers of Node.
  const variables = { CFLAGS: '-O0', CXXFLAGS: '-O0', ...(headers !== undefined && { npm_config_nodedir: headers }) }
  const flags = folder === 'clients' ? ['--ignore-scripts'] : []
  installOnce(`test/stores/${folder}`, flags, variables)
  return createRequire(join(repository, 'test/stores', folder, 'package.json'))(name)
}

/** Without a listener, an error of the connection would be one that is not caught; node-redis does not connect again. */
export function quiet<T extends { on(event: string, listener: () => void): unknown }>(client: T): T {
  client.on('error', () => {})
  return client
}

/** For {@link ServerKind.missing}: whether a program can be run. @param debian - The package that has it. */
export function missingProgram(program: string, flag: string, debian: string): string | undefined {
  return spawnSync(program, [flag], { stdio: 'ignore' }).error && `${program} (Debian package ${debian})`
}
