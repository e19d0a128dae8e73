import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createGenerator } from 'graupel'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { freshNamespace } from '../support/engines.js'
import { describeWith } from '../support/needs.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-followed-'))
beforeAll(() => {
  vi.stubEnv('GRAUPEL_STATE_FOLDER', folder)
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

/** A worker with a generator. It answers each message with an id or the code of an error. */
async function workerOf(options: object) {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads')
    const ids = require('graupel').createGenerator(workerData)
    parentPort.on('message', () => {
      try {
        parentPort.postMessage(ids.next())
      } catch (error) {
        parentPort.postMessage(error.code)
      }
    })`
  const worker = new Worker(program, { eval: true, workerData: options })
  return {
    async next(): Promise<bigint> {
      worker.postMessage('next')
      const [id] = await once(worker, 'message')
      return id
    },
    end: () => worker.terminate(),
  }
}

describeWith(['native'], 'a generator of the process', () => {
  it('follows its word into a page beside the claim of a js engine, also if the page is no longer open', async () => {
    const own = { node: 7, namespace: freshNamespace() }
    const ids: bigint[] = []
    {
      using js = createGenerator({ ...own, engine: 'js' })
      ids.push(js.next())
    }
    const ofProcess = await workerOf({ ...own, engine: 'native', state: 'process' })
    ids.push(await ofProcess.next())
    for (let round = 0; round < 2; round++) {
      // In one millisecond, the thread would use up the run that it has, and its ids would be below others.
      const ms = Date.now()
      await until(() => Date.now() > ms)
      using ofHost = createGenerator({ ...own, engine: 'native' })
      ids.push(ofHost.next())
      ofHost.close()
      ids.push(await ofProcess.next(), await ofProcess.next())
    }
    await ofProcess.end()
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids)
  })
})
