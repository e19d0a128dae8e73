import { memoryStore } from 'graupel/stores'
import { expect, test, vi } from 'vitest'
import { run } from '../../server/src/run.ts'
import { storeOf } from '../../server/src/store.ts'
import { openedMemory, optionsOf } from './support/in-process.ts'

vi.mock('../../server/src/store.ts')

test('the error of a failed start lacks the credentials of the store, even if its client quotes them', async () => {
  const failing = async () => {
    throw new Error('WRONGPASS for redis://:s3cret@10.0.0.1')
  }
  const opened = openedMemory({ ...memoryStore(), read: failing, list: failing, write: failing })
  vi.mocked(storeOf).mockResolvedValue({ ...opened, hide: (text) => text.replaceAll('s3cret', '***') })
  const options = optionsOf(['--port', '0', '--acquire-timeout-ms', '0', '--log-level', 'silent'])
  const error: Error = await run(options, new AbortController().signal, () => {}).catch((error) => error)
  expect(error.message).toContain('WRONGPASS for redis://:***@10.0.0.1')
})
