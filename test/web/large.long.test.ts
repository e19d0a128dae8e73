import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { missingChromium, siteForTests, type Visit } from './support/browser.ts'

const lines = 1_000_000

describeWith([missingChromium], 'many ids at once', () => {
  const site = siteForTests()
  afterEach(() => site.leave())

  it('reads a million pasted ids, can be cancelled, and can be used meanwhile', async () => {
    // The summary is shown once the layout of the ids is known.
    const { page, context, expectNoFaults } = await site.visit('#parse?layout=twitter')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await clickWhenThere(page, '.progress button')
    await paste(page)
    await page.getByText('Cancelled.').waitFor()
    await page.getByText('million characters are kept beside the field').waitFor()
    // Starts again, and opens another view while the ids are read.
    await clickWhenThere(page, '.progress', 'nav a[href^="#generate"]')
    await page.getByLabel('Encoding').selectOption('decimal')
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    await page.getByRole('link', { name: 'Parse', exact: true }).click()
    const together = page.getByRole('region', { name: /Together/ })
    await together.getByText('Each id is larger than the one before.').waitFor({ timeout: 60_000 })
    await together.getByText(lines.toLocaleString('en'), { exact: true }).waitFor()
    await page.getByText(`The first 100 of ${lines.toLocaleString('en')}.`).waitFor()
    expect(page.url()).toContain('left-out=ids')
    expectNoFaults()
  })

  it('makes 100 000 ids, and can be cancelled', async () => {
    const { page, expectNoFaults } = await site.visit('#generate?count=100000')
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 100,000' }).waitFor()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Text file' }).click(),
    ])
    const ids = await read(await file.createReadStream())
    expect(new Set(ids).size).toBe(100_000)
    // 256 ids in 10 ms: this takes seconds.
    await page.getByLabel('Layout', { exact: true }).selectOption('sonyflake')
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.locator('.note', { hasText: 'Cancelled.' }).waitFor()
    await page.getByRole('heading', { name: 'Ids made: 100,000' }).waitFor()
    expectNoFaults()
  })

  it('writes 100 000 ids to a file while the next ids are made', async () => {
    const { page, expectNoFaults } = await site.visit('#generate?count=100000')
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 100,000' }).waitFor()
    const shown = await page.locator('table.ids code').first().innerText()
    await page.getByLabel('How many').fill('1')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      // Both in one task, because the file may be written before the next click of Playwright.
      page.evaluate(() => {
        const buttons = [...document.querySelectorAll('button')]
        buttons.find(({ textContent }) => textContent === 'Text file')?.click()
        buttons.find(({ type }) => type === 'submit')?.click()
      }),
    ])
    const ids = await read(await file.createReadStream())
    expect([ids[0], new Set(ids).size]).toEqual([shown, 100_000])
    await page.getByRole('heading', { name: 'Ids made: 1', exact: true }).waitFor()
    expectNoFaults()
  })
})

/** Clicks an element as soon as it exists, because it may vanish before a test sees it. */
async function clickWhenThere(page: Visit['page'], there: string, button = there): Promise<void> {
  await page.evaluate(
    ([there, button]) => {
      const observer = new MutationObserver(() => {
        if (document.querySelector(there) === null) return
        observer.disconnect()
        document.querySelector<HTMLElement>(button)?.click()
      })
      observer.observe(document, { childList: true, subtree: true })
    },
    [there, button] as const,
  )
}

/** Puts a million ids on the clipboard and pastes them by the keyboard. */
async function paste(page: Visit['page']): Promise<void> {
  await page.evaluate(async (count) => {
    const first = 1541815603606036480n
    const ids = Array.from({ length: count }, (_, i) => first + (BigInt(i) << 20n))
    await navigator.clipboard.writeText(ids.join('\n'))
  }, lines)
  await page.getByLabel('Ids', { exact: true }).focus()
  await page.keyboard.press('Control+V')
}

async function read(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString().trim().split('\n')
}
