// Opens a store as a user's program does, with a client that reconnects on its own.
import { createRequire } from 'node:module'
import { consulStore } from 'graupel/stores/consul'
import { dynamodbStore } from 'graupel/stores/dynamodb'
import { etcdStore } from 'graupel/stores/etcd'
import { kubernetesStore } from 'graupel/stores/kubernetes'
import { mysqlStore } from 'graupel/stores/mysql'
import { objectStore } from 'graupel/stores/object'
import { postgresStore } from 'graupel/stores/postgres'
import { redisStore } from 'graupel/stores/redis'
import { serviceStore } from 'graupel/stores/service'
import { sqliteStore } from 'graupel/stores/sqlite'
import { openStore as openByUrl } from 'graupel/stores/url'
import { zookeeperStore } from 'graupel/stores/zookeeper'

const load = createRequire(new URL('../clients/', import.meta.url))
const host = '127.0.0.1'

/**
 * @typedef {'ioredis' | 'node-redis' | 'glide' | 'pg' | 'postgres.js' | 'mysql2' | 'mysql2 callbacks' |
 * 'mariadb' | 'node-zookeeper-client' | 'aws-sdk' | 'mongodb'} Client
 * @typedef {'etcd' | 'consul' | 'kubernetes' | 's3' | 'azure' | 'google' | 'service'} DurableClient
 * @typedef {{ client: Client, port: number, durable?: boolean }
 *   | { client: DurableClient, port: number, durable?: true }
 *   | { client: 'postgres.js by openStore', port: number, clientsOf: string }
 *   | { client: 'libsql', file: string, busyMs: number }} StorePlan
 */

/**
 * @param {StorePlan} plan
 * @returns {Promise<import('graupel/stores').Store>}
 */
export async function openStore(plan) {
  if (plan.client === 'libsql') {
    const Database = load('libsql')
    return sqliteStore(new Database(plan.file, { timeout: plan.busyMs }))
  }
  const { port } = plan
  if (plan.client === 'postgres.js by openStore') {
    const { clientsOf } = plan
    return (await insist(() => openByUrl(`postgres://postgres@${host}:${port}/postgres`, { clientsOf }))).store
  }
  const options = plan.durable === undefined ? {} : { assumeDurable: plan.durable }
  switch (plan.client) {
    case 'etcd':
      return etcdStore({ url: `http://${host}:${port}` })
    case 'consul':
      return consulStore({ url: `http://${host}:${port}` })
    case 'kubernetes':
      return kubernetesStore({ url: `http://${host}:${port}`, namespace: 'default' })
    case 's3': {
      const { S3 } = load('@aws-sdk/client-s3')
      const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
      const endpoint = `http://${host}:${port}`
      const client = new S3({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials })
      return objectStore({ client, bucket: 'ids' })
    }
    case 'azure': {
      const { BlobServiceClient } = load('@azure/storage-blob')
      const service = BlobServiceClient.fromConnectionString(azuriteConnection(port))
      return objectStore({ client: service.getContainerClient('ids') })
    }
    case 'google': {
      const { Storage } = load('@google-cloud/storage')
      const client = new Storage({ apiEndpoint: `http://${host}:${port}`, projectId: 'test' })
      return objectStore({ client: client.bucket('ids') })
    }
    case 'service':
      return serviceStore({ url: `http://${host}:${port}` })
    case 'ioredis': {
      const { Redis } = load('ioredis')
      const client = new Redis({ port, host })
      client.on('error', () => {})
      return redisStore(client, options)
    }
    case 'node-redis': {
      const client = load('redis').createClient({ url: `redis://${host}:${port}` })
      client.on('error', () => {})
      insist(() => client.connect())
      return redisStore(client, options)
    }
    case 'glide': {
      const { GlideClient } = load('@valkey/valkey-glide')
      const open = () => GlideClient.createClient({ addresses: [{ host, port }], requestTimeout: 1000 })
      return redisStore(await insist(open), options)
    }
    case 'pg': {
      const { Pool } = load('pg')
      const client = new Pool({ port, host, user: 'postgres', max: 4 })
      client.on('error', () => {})
      return postgresStore(client, options)
    }
    case 'postgres.js': {
      // Without this option, an error while types are fetched ends the process, and cannot be caught
      // (postgres.js, issues 1192 and 1223).
      const own = { fetch_types: false, onnotice: () => {} }
      const client = load('postgres')({ port, host, user: 'postgres', max: 4, ...own })
      return postgresStore(client, options)
    }
    case 'mysql2':
      return mysqlStore(load('mysql2/promise').createPool(mysqlPool(port)), options)
    case 'mysql2 callbacks':
      return mysqlStore(load('mysql2').createPool(mysqlPool(port)), options)
    case 'mariadb': {
      const pool = load('mariadb').createPool(mysqlPool(port))
      pool.on('error', () => {})
      return mysqlStore(pool, options)
    }
    case 'aws-sdk': {
      const { DynamoDB } = load('@aws-sdk/client-dynamodb')
      const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
      return dynamodbStore(new DynamoDB({ region: 'eu-west-1', endpoint: `http://${host}:${port}`, credentials }))
    }
    case 'mongodb': {
      // As docs/stores/mongodb.md advises: the driver alone may stay without a server after an outage.
      const url = `mongodb://${host}:${port}/graupel?directConnection=true`
      return (await insist(() => openByUrl(url, { clientsOf: new URL('../clients/', import.meta.url) }))).store
    }
    case 'node-zookeeper-client': {
      const { createClient } = load('node-zookeeper-client')
      return zookeeperStore(() => createClient(`${host}:${port}`))
    }
  }
}

/** @param {number} port */
function azuriteConnection(port) {
  // The account of azurite, which is public.
  const account = 'devstoreaccount1'
  const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
  return `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};BlobEndpoint=http://${host}:${port}/${account};`
}

/** @param {number} port */
function mysqlPool(port) {
  return { port, host, user: 'root', database: 'graupel', connectionLimit: 4 }
}

/**
 * @template T
 * @param {() => Promise<T>} call
 */
async function insist(call) {
  for (;;) {
    try {
      return await call()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
