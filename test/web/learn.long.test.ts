import { layouts } from 'graupel'
import { afterEach, expect, it } from 'vitest'
import { codeLanguages, idCode } from '../../web/src/code/index.ts'
import { sections } from '../../web/src/learn/sections.ts'
import { messageIn } from '../../web/src/text/language.ts'
import { describeWith } from '../support/needs.ts'
import { missingChromium, siteForTests } from './support/browser.ts'

describeWith([missingChromium], 'the view Learn', () => {
  const site = siteForTests('/learn/')
  afterEach(() => site.leave())

  it('has all sections in their order', async () => {
    const { page, expectNoFaults } = await site.visit('#learn')
    const titles = page.locator('.learn h2, .learn summary')
    const expected = sections.map(({ key }) => messageIn('en', key, { layout: 'twitter' }, String).split('\n')[0])
    await titles.last().waitFor()
    expect(await titles.allInnerTexts()).toEqual(expected)
    expectNoFaults()
  })

  it('shows the id of the view Parse, step by step', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=175928847299117063')
    await page.getByText('The likeliest, discord').waitFor()
    await page.getByRole('link', { name: 'How it works' }).click()
    await page.getByRole('heading', { name: 'Learn', level: 1 }).waitFor()
    expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe('175928847299117063')
    expect(await page.getByLabel('Layout').inputValue()).toBe('discord')
    await page.getByRole('img', { name: /worker 1 \(5\), process 0 \(5\), sequence 7 \(12\)/ }).waitFor()
    const made = page.getByRole('region', { name: 'How the number is made' })
    const row = made.getByRole('row').filter({ hasText: 'timestamp = now − epoch' })
    expect((await row.innerText()).split(/\s+/).slice(-3)).toEqual([
      '41944705796',
      `0x${41944705796n.toString(16)}`,
      41944705796n.toString(2),
    ])
    const apart = page.getByRole('region', { name: 'How it is taken apart' })
    expect(await apart.getByRole('row').last().innerText()).toContain('1462015105796')
    expect(page.url()).toContain('#learn?id=175928847299117063&layout=discord')
    expectNoFaults()
  })

  it('has a link in the lead of each view', async () => {
    const { page, expectNoFaults } = await site.visit('#parse')
    for (const name of ['Parse', 'Generate', 'Design', 'Compare']) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
      await page.locator('.lead').getByRole('link', { name: 'How it works' }).click()
      await page.getByRole('heading', { name: 'What it is' }).waitFor()
    }
    expect(await page.locator('.lead a').count()).toBe(0)
    expectNoFaults()
  })

  it('shows an id of the present time, which stands still until another one is asked for', async () => {
    const { page, expectNoFaults } = await site.visit('#learn')
    const field = page.getByLabel('Id', { exact: true })
    const shown = await field.getAttribute('placeholder')
    await page.getByLabel('Layout').selectOption('discord')
    await page.getByLabel('Layout').selectOption('twitter')
    expect(await field.getAttribute('placeholder')).toBe(shown)
    await page.getByRole('button', { name: 'One of now' }).click()
    await expect.poll(() => field.inputValue()).toMatch(/^\d{19}$/)
    await field.fill('9223372036854775808')
    await page.getByText('9223372036854775808 has 64 bits; ids of twitter have at most 63.').waitFor()
    // Baidu's layout has run out: its last id is shown.
    await field.fill('')
    await page.getByLabel('Layout').selectOption('baidu')
    await page.getByText('baidu runs out on').waitFor()
    expectNoFaults()
  })

  it('has the code of a designed layout in each language, as the templates write it', async () => {
    const { page, context, expectNoFaults } = await site.visit('#design')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.results').getByRole('link', { name: 'How it works' }).click()
    await page.getByRole('heading', { name: 'Code for orders' }).waitFor()
    await page.getByLabel('Layout').selectOption('discord')
    for (const language of codeLanguages) {
      await page.locator('#learn-language').selectOption(language)
      await page.getByRole('button', { name: 'Copy the code' }).click()
      await expect
        .poll(() => page.evaluate(() => navigator.clipboard.readText()))
        .toBe(idCode(language, layouts.discord))
    }
    expect(await page.locator('pre').innerText()).toBe(idCode('Go', layouts.discord))
    expectNoFaults()
  })

  it('unfolds the primer by the keyboard', async () => {
    const { page, expectNoFaults } = await site.visit('#learn', { locale: 'ru' })
    const primer = page.locator('summary')
    expect(await page.getByText('JavaScript').first().isVisible()).toBe(false)
    await primer.focus()
    await page.keyboard.press('Enter')
    await page.getByText('В JavaScript').waitFor()
    expectNoFaults()
  })
})
