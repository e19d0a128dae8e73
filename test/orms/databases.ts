import { load } from '../stores/kinds/kind.ts'
import { startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import type { Server } from '../stores/servers.ts'

// Servers with a database for each program. The tests read the databases by the drivers alone.

type Row = Record<string, unknown>

interface OneDatabase {
  readonly url: string
  /** The rows that the driver reads; ids are text if the query casts them to text. */
  rows(query: string): Promise<Row[]>
}

export interface Databases {
  create(name: string): Promise<OneDatabase>
  stop(): Promise<void>
}

export async function openPostgres(): Promise<Databases> {
  const server = await startPostgres()
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${server.port}/${name}`
  const { Client } = load('pg')
  const rows = async (url: string, query: string): Promise<Row[]> => {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(query)).rows
    } finally {
      await client.end()
    }
  }
  return databasesOf(server, urlOf, 'postgres', rows)
}

export async function openMysql(): Promise<Databases> {
  const server = await startMysql()
  const urlOf = (name: string) => `mysql://root@127.0.0.1:${server.port}/${name}`
  const { createConnection } = load('mysql2/promise')
  const rows = async (url: string, query: string): Promise<Row[]> => {
    const connection = await createConnection(url)
    try {
      return (await connection.query(query))[0]
    } finally {
      await connection.end()
    }
  }
  return databasesOf(server, urlOf, '', rows)
}

/** @param first - The database from which a connection creates the others. */
function databasesOf(
  server: Server,
  urlOf: (name: string) => string,
  first: string,
  rows: (url: string, query: string) => Promise<Row[]>,
): Databases {
  return {
    async create(name) {
      await rows(urlOf(first), `CREATE DATABASE ${name}`)
      const url = urlOf(name)
      return { url, rows: (query) => rows(url, query) }
    },
    stop: () => server.stop(),
  }
}
