import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { missingChromium, siteForTests } from './support/browser.ts'

/** More characters than a text field gets. */
const large = '1541815603606036480\n'.repeat(6000)

const attached = 'million characters are kept beside the field'

const fileOf = (text: string) => ({ name: 'ids.txt', mimeType: 'text/plain', buffer: Buffer.from(text) })

/** An id that the layout of the view Design makes now. */
const designedId = () => BigInt(Date.now() - Date.UTC(2024, 0, 1)) << 22n

describeWith([missingChromium], 'the fields of the page', () => {
  const site = siteForTests()
  afterEach(() => site.leave())

  it('show several ids of a design, which is the likeliest layout', async () => {
    const { page, expectNoFaults } = await site.visit('#design')
    await page.getByLabel('Name', { exact: true }).fill('mine')
    await page.getByRole('link', { name: 'Parse', exact: true }).click()
    const id = designedId()
    await page.getByLabel('Ids', { exact: true }).fill(`${id}\n${id + 1n}`)
    await page.getByText('The likeliest, mine, is shown as a guess').waitFor()
    await page
      .getByRole('region', { name: /Together/ })
      .getByText('Each id is larger than the one before.')
      .waitFor()
    expectNoFaults()
  })

  it('keep the fields and the epoch of a design that has the name of a known layout', async () => {
    const { page, expectNoFaults } = await site.visit('#design?name=discord')
    await page.goto(`${site.url}#parse?ids=${designedId()}&epoch=2023-01-01`)
    await page.getByText('The likeliest, discord, is shown as a guess').waitFor()
    await page.keyboard.press('Alt+2')
    await page.getByText('You chose').waitFor()
    expect(await page.getByLabel('Epoch', { exact: true }).inputValue()).toBe('2023-01-01')
    await page.keyboard.press('Alt+1')
    await expect.poll(() => page.url()).toContain('layout=discord@1704067200000/1:')
    expect(await page.getByLabel('Epoch', { exact: true }).inputValue()).toBe('')
    expectNoFaults()
  })

  it('take the characters that Alt and a digit write, which then choose no row', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=5')
    const rows = page.locator('.guesses input')
    await rows.nth(9).waitFor()
    const shortcuts = await rows.evaluateAll((all) => all.map((one) => one.getAttribute('aria-keyshortcuts')))
    expect(shortcuts.slice(0, 10)).toEqual([...Array.from({ length: 9 }, (_, i) => `Alt+${i + 1}`), null])
    /** Returns whether the text field gets the key. */
    const press = (key: string) =>
      page.getByLabel('Ids', { exact: true }).evaluate((field: HTMLElement, key) => {
        field.focus()
        const init = { altKey: true, code: 'Digit5', key, bubbles: true, cancelable: true }
        return field.dispatchEvent(new KeyboardEvent('keydown', init))
      }, key)
    expect(await press('[')).toBe(true)
    // A US Mac writes "∞".
    expect(await press('∞')).toBe(false)
    expect(await press('5')).toBe(false)
    await page.getByText('You chose').waitFor()
    expectNoFaults()
  })

  it('show the kinds of moved fields, and the preset of a design until the design is changed', async () => {
    const { page, expectNoFaults } = await site.visit('#design')
    const kind = (name: string) => page.getByRole('combobox', { name: `Kind of ${name}` })
    await kind('region').selectOption('tag')
    await page.getByRole('button', { name: 'Move region down' }).click()
    expect([await kind('worker').inputValue(), await kind('region').inputValue()]).toEqual(['', 'tag'])
    const start = page.getByLabel('Begin with')
    const name = page.getByLabel('Name', { exact: true })
    await start.selectOption('discord')
    await page.getByText("['process', 5],").waitFor()
    expect(await start.inputValue()).toBe('discord')
    await name.fill('ours')
    expect(await start.inputValue()).toBe('')
    await start.selectOption('discord')
    expect(await name.inputValue()).toBe('my-discord')
    expectNoFaults()
  })

  it('keep an attached text while the history goes back and forward', async () => {
    const { page, expectNoFaults } = await site.visit('#generate')
    await page.goto(`${site.url}#parse`)
    await page.locator('input[type=file]').setInputFiles(fileOf(large))
    await page.getByText(attached).waitFor()
    await expect.poll(() => page.url()).toContain('left-out=ids')
    await page.goBack()
    await page.getByRole('heading', { name: 'Generate', level: 1 }).waitFor()
    await page.goForward()
    await page.getByText(attached).waitFor()
    expectNoFaults()
  })

  it('get the long text of their entry of the history', async () => {
    const { page, expectNoFaults } = await site.visit('#parse')
    const field = page.getByLabel('Ids', { exact: true })
    const long = `${'hello'.repeat(100)}\n`.repeat(24)
    await field.fill(long)
    await expect.poll(() => page.url()).toContain('left-out=ids')
    await page.goto(`${site.url}#parse?ids=7`)
    await expect.poll(() => field.inputValue()).toBe('7')
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe(long)
    expectNoFaults()
  })

  it('take the same file again, and a small file after a large one', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const input = page.locator('input[type=file]')
    await input.setInputFiles(fileOf(large))
    await page.getByText(attached).waitFor()
    // A browser tells the page of a file only if it is another one than the value.
    expect(await input.inputValue()).toBe('')
    await input.setInputFiles(fileOf('7'))
    const field = page.locator('textarea')
    await field.waitFor()
    expect(await field.inputValue()).toBe('7')
    expectNoFaults()
  })

  it('take only the last file, and none after something was typed, and say why a file cannot be read', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const input = page.locator('input[type=file]')
    const field = page.locator('textarea')
    await page.evaluate(() => {
      const reads: ((text: string) => void)[] = []
      Object.assign(window, { reads })
      Blob.prototype.text = () => new Promise((resolve) => reads.push(resolve))
    })
    /** Ends the reading of a file, and lets the page draw. */
    const end = (file: number, text: string) =>
      page.evaluate(
        async ([file, text]) => {
          const { reads } = window as unknown as { reads: ((text: string) => void)[] }
          reads[file]?.(text)
          await new Promise((resolve) => setTimeout(resolve))
        },
        [file, text] as const,
      )
    await input.setInputFiles(fileOf('first'))
    await input.setInputFiles(fileOf('second'))
    await end(1, '2')
    await end(0, '1')
    expect(await field.inputValue()).toBe('2')
    await input.setInputFiles(fileOf('third'))
    await field.fill('4')
    await end(2, '3')
    expect(await field.inputValue()).toBe('4')
    await page.evaluate(() => {
      Blob.prototype.text = () => Promise.reject(new Error('The file is gone.'))
    })
    await input.setInputFiles(fileOf('fourth'))
    await page.getByText('The file is gone.').waitFor()
    expect(await field.inputValue()).toBe('4')
    expectNoFaults()
  })
})
