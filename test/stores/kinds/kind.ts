import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { headersOfThisNode } from '../../../src/cli/build.ts'
import type { Store } from '../../../src/stores/store.js'
import { installOnce } from '../../package/consumer.ts'
import { repository } from '../../support/documents.ts'
import type { Server } from '../servers.ts'

/** A kind of database that has a server, and every client of it that the documents name. */
export interface ServerKind {
  readonly name: string
  /** Returns what the server needs and is not installed. */
  readonly missing: () => string | undefined
  /** Starts an empty server. */
  start(): Promise<Server>
  /** The URL by which `openStore` opens the store, and the variables that its client reads. */
  readonly url: (port: number) => string
  readonly variables?: (port: number) => Readonly<Record<string, string>>
  /** The clients with their defaults, as users make them. */
  readonly clients: Readonly<Record<string, Open>>
  /** The clients that repeat a write when its reply is lost, and then conflict with their own write. */
  readonly resending?: readonly string[]
  /** The server knows a repeated write, so the client gets the answer that was lost. */
  readonly recovers?: true
  /** Encodes a text as the clients send it. Without it they send the text unchanged. */
  readonly onWire?: (text: string) => string
  /** The store uses `fetch`, or a client like it: there is nothing to close. */
  readonly isFetched?: true
  /** The client connects again after its end. */
  readonly staysOpen?: true
  /** The tests do not start this server, so they cannot stop it, or put a proxy before it. */
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

/** Installs the clients if they are missing. On a busy machine that takes minutes. */
export function installClients(folder = 'clients'): void {
  // Modules that have to be compiled need not be fast. Without `nodedir`, node-gyp would download the headers
  // of Node.
  const variables = { CFLAGS: '-O0', CXXFLAGS: '-O0', ...(headers !== undefined && { npm_config_nodedir: headers }) }
  const flags = folder === 'clients' ? ['--ignore-scripts'] : []
  installOnce(`test/stores/${folder}`, flags, variables)
}

/** Loads a client's module. Installs it first if it is missing. */
export function load(name: string, folder = 'clients') {
  installClients(folder)
  return createRequire(join(repository, 'test/stores', folder, 'package.json'))(name)
}

/**
 * Listens to a client's errors, as a program does that connects before it makes a store, or that shows them.
 */
export function quiet<T extends { on(event: string, listener: () => void): unknown }>(client: T): T {
  client.on('error', () => {})
  return client
}

/**
 * Names a program that cannot be run, for {@link ServerKind.missing}. @param debian - The package that has
 * the program.
 */
export function missingProgram(program: string, flag: string, debian: string): string | undefined {
  return spawnSync(program, [flag], { stdio: 'ignore' }).error && `${program} (Debian package ${debian})`
}
