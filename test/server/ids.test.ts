import { expect, test } from 'vitest'
import { serve } from './support/process.ts'

test('one id is answered where nothing is configured', async () => {
  const { url } = await serve()
  const answer = await fetch(`${url}/v1/ids`)
  const { ids } = (await answer.json()) as { ids: string[] }
  expect(ids).toEqual([expect.stringMatching(/^[0-9]{19}$/)])
})
