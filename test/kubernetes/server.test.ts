import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGenerator, decode, layouts } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { fetchTrusting, readText } from '../../src/stores/kubernetes/pod.js'
import { kubernetesStore } from '../../src/stores/kubernetes.js'
import type { Store } from '../../src/stores/store.js'
import { graupelIn, projectWith } from '../cli/fleet.ts'
import { eventsOf, recordOf, typesOf } from '../lease/leases.ts'
import { etcd } from '../stores/kinds/etcd.ts'
import { type KubernetesServer, missingApiServer, startKubernetes } from '../stores/kinds/kubernetes-server.ts'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'

interface Lease {
  readonly metadata: { readonly name: string; readonly annotations: Record<string, string> }
}

// The behaviour of a real API server with RBAC. Only `--mode kubernetes` runs this file.

describeWith([missingApiServer, etcd.missing, 'openssl'], 'Kubernetes, the real API server', () => {
  let server: KubernetesServer
  let store: Store
  beforeAll(async () => {
    server = await startKubernetes()
    const { url, files } = server
    const headers = async () => ({ authorization: `Bearer ${await readText(files.token)}` })
    store = kubernetesStore({ url, namespace: 'default', headers, fetch: fetchTrusting(() => readText(files.ca)) })
  })
  afterAll(() => server?.stop())

  /** Acquires a lease, and finds the path of the Lease object of its node. */
  async function leased() {
    const namespace = freshNamespace()
    const lease = await acquireLease({ store, namespace, windowMs: 2000 })
    const ids = createGenerator({ lease })
    const made: bigint[] = []
    /** Makes ids. Returns whether it could, because a busy machine may reach the ceiling at any time. */
    const make = () => {
      try {
        made.push(...ids.take(100))
        return true
      } catch (error) {
        expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
        return false
      }
    }
    await until(make)
    const { node } = lease
    const { key } = await recordOf(store, namespace, node)
    const { body } = await server.ask('GET', '?labelSelector=app.kubernetes.io/managed-by=graupel')
    const isOfKey = (one: Lease) => one.metadata.annotations['graupel/key'] === `graupel/${key}`
    const path = `/${(body.items as Lease[]).find(isOfKey)?.metadata.name}`
    const renewed = async () => {
      const { renewals } = lease.stats()
      await until(() => lease.stats().renewals > renewals + 1)
      expect(make()).toBe(true)
    }
    /** The lease gets another node, and its ids go on to ascend. */
    const moved = async () => {
      await until(() => lease.node !== node && make())
      expect(isAscending(BigUint64Array.from(made))).toBe(true)
      expect(typesOf(namespace)).not.toContain('ended')
    }
    return { lease, make, made, namespace, key, path, renewed, moved }
  }

  it('gives each of sixteen processes that begin at once a node of its own', async () => {
    const { url, files } = server
    const at = `${url.replace('https', 'kubernetes')}/default?token-file=${files.token}&ca-file=${files.ca}`
    const folder = projectWith()
    const words = ['next', '-n', '1000', '--namespace', freshNamespace(), '--store', at]
    const runs = await Promise.all(Array.from({ length: 16 }, () => graupelIn(folder, words)))
    for (const { status, stderr } of runs) expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const ids = runs.flatMap(({ stdout }) => stdout.trimEnd().split('\n'))
    expect(new Set(ids).size).toBe(16_000)
  })

  describe('a Role without the verb', () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/graupel'
    const verbs = ['get', 'list', 'create', 'update']
    const allow = async (allowed: readonly string[]) => {
      const { body } = await server.ask('GET', path)
      expect(body.rules).toMatchObject([{ resources: ['leases'] }])
      body.rules[0].verbs = allowed
      expect(await server.ask('PUT', path, body)).toMatchObject({ status: 200 })
    }

    it.each<[string, () => Promise<unknown>]>([
      ['get', () => store.read('folder/1')],
      ['list', () => store.list('folder/')],
      ['create', () => store.write(`folder/${crypto.randomUUID()}`, 'x', undefined)],
      ['update', async () => store.write('folder/1', 'x', (await store.read('folder/1'))?.version)],
    ])('%s is refused by an error that names the verb', async (verb, call) => {
      await store.write('folder/1', 'x', undefined)
      await allow(verbs.filter((other) => other !== verb))
      const message = new RegExp(
        `answered 403 when it was asked to ${verb} Leases in the namespace 'default': .*; let a Role allow its user get, list`,
      )
      try {
        // The server learns of a changed Role a moment later.
        await eventually(() => expect(call()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' }))
        await expect(call()).rejects.toThrow(message)
        const refused = acquireLease({ store, namespace: freshNamespace() })
        if (verb === 'update') await (await refused).release().catch(() => {})
        else
          await expect(refused).rejects.toMatchObject({
            code: 'ERR_STORE_UNAVAILABLE',
            message: expect.stringMatching(message),
          })
      } finally {
        await allow(verbs)
      }
      await eventually(call)
    })

    it('delete, as documented, lets no process remove a Lease', async () => {
      const { url, files } = server
      const send = fetchTrusting(() => readText(files.ca))
      await store.write('folder/kept', 'x', undefined)
      const answer = await send(`${url}/apis/coordination.k8s.io/v1/namespaces/default/leases/graupel.folder.kept`, {
        method: 'DELETE',
        redirect: 'manual',
        headers: { authorization: `Bearer ${await readText(files.token)}` },
      })
      expect(answer.status).toBe(403)
    })
  })

  it('may be killed: the lease keeps its node, and makes ids when the server is back', async () => {
    const { lease, make, made, namespace } = await leased()
    const { node } = lease
    await server.restart('SIGKILL')
    const { renewals } = lease.stats()
    await until(() => lease.stats().renewals > renewals && make())
    expect(isAscending(BigUint64Array.from(made))).toBe(true)
    expect(lease.node).toBe(node)
    expect(typesOf(namespace)).not.toContain('ended')
    expect(new Set(made.map((id) => decode(id, layouts.twitter).node))).toEqual(new Set([node]))
    await lease.release()
  })

  describe('a Lease that is held and changed by hand', () => {
    it('is renewed if others have added labels, annotations and fields', async () => {
      const { lease, path, renewed } = await leased()
      const spec = { leaseDurationSeconds: 15, leaseTransitions: 3, renewTime: '2026-01-01T00:00:00.000000Z' }
      await eventually(async () => {
        const { body } = await server.ask('GET', path)
        Object.assign(body.metadata.labels, { team: 'theirs' })
        Object.assign(body.metadata.annotations, { note: 'theirs' })
        expect(await server.ask('PUT', path, { ...body, spec: { ...body.spec, ...spec } })).toMatchObject({
          status: 200,
        })
      })
      await renewed()
      expect(lease.stats()).toMatchObject({ acquisitions: 1 })
      const { body } = await server.ask('GET', path)
      expect(body.metadata.annotations).not.toHaveProperty('note')
      await lease.release()
    })

    /** Removes an annotation as `kubectl annotate … name-` does. Returns its value. */
    const without = (path: string, name: string) =>
      eventually(async () => {
        const { body } = await server.ask('GET', path)
        const { [name]: value, ...annotations } = body.metadata.annotations
        const metadata = { ...body.metadata, annotations }
        expect(await server.ask('PUT', path, { ...body, metadata })).toMatchObject({ status: 200 })
        return value
      })

    it.each(['graupel/key', 'graupel/value'])('gets its annotation %s back from its holder', async (name) => {
      const { lease, path, key, renewed } = await leased()
      await without(path, name)
      await renewed()
      expect(await store.read(key)).toMatchObject({ key })
      expect(lease.stats()).toMatchObject({ acquisitions: 1 })
      await lease.release()
    })

    it('stops its holder without the annotation graupel/version, until the Lease is removed', async () => {
      const { lease, path, key, make, made, namespace } = await leased()
      await without(path, 'graupel/version')
      const message = expect.stringMatching(
        /^the Lease 'graupel\..*' in the namespace 'default' has no annotations of graupel; /,
      )
      for (const call of [() => store.read(key), () => store.list(key.replace(/[^/]+$/, ''))]) {
        await expect(call()).rejects.toMatchObject({ code: 'ERR_STORE_INVALID', message })
      }
      await until(() => !make())
      await until(() =>
        eventsOf(namespace).some(({ error }) => (error as NodeJS.ErrnoException)?.code === 'ERR_STORE_INVALID'),
      )
      expect(await server.ask('DELETE', path)).toMatchObject({ status: 200 })
      await until(make)
      expect(isAscending(BigUint64Array.from(made))).toBe(true)
      await lease.release()
    })

    it('is not created again after it was deleted, and its holder moves', async () => {
      const { lease, path, key, moved } = await leased()
      expect(await server.ask('DELETE', path)).toMatchObject({ status: 200 })
      await moved()
      expect(await store.read(key)).toBeUndefined()
      await lease.release()
    })
  })
})
