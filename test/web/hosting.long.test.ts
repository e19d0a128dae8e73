import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { missingChromium, siteForTests } from './support/browser.ts'

const axe = createRequire(new URL('../../web/package.json', import.meta.url)).resolve('axe-core/axe.min.js')

/** Each view with content, and one view with faults. */
const filled = {
  parse: '#parse?ids=1541815603606036480',
  many: '#parse?ids=1541815603606036480,1541815603606036481,x&layout=twitter',
  uuid: '#parse?ids=0181ab11-8149-7000-97a0-000000000000',
  uuids: '#parse?ids=0181ab11-8149-7000-97a0-000000000000,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,x&layout=baidu&row=1',
  wrong: '#parse?ids=-5&epoch=yesterday',
  generate: '#generate?count=3',
  generateUuids: '#generate?count=3&format=uuid',
  design: '#design',
  learn: '#learn?id=1541815603606036480',
  learnLive: '#learn',
  compare:
    '#compare?old=twitter&new=leaf&largest=1541815603606036480&oldIds=1541815603606036480&newIds=1541815603606036480',
} as const

describeWith([missingChromium], 'the page in any place', () => {
  const site = siteForTests('/below/a/path/')
  afterEach(() => site.leave())

  it('works from a folder, over file:', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=1541815603606036480&layout=twitter', {
      base: site.fileUrl,
    })
    await page.getByRole('table', { name: 'Parts' }).getByText('2022-06-28T16:07:40.105Z').waitFor()
    await page.getByRole('link', { name: 'Generate' }).click()
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    expect(await page.evaluate(() => getComputedStyle(document.body).margin)).toBe('0px')
    await page.goBack()
    await page.getByRole('table', { name: 'Parts' }).getByText('2022-06-28T16:07:40.105Z').waitFor()
    expectNoFaults()
  })

  it('works without a network and without storage', async () => {
    const { page, context, expectNoFaults } = await site.visit('')
    await context.setOffline(true)
    await page.evaluate(() => {
      Object.defineProperty(window, 'localStorage', {
        get() {
          throw new DOMException('denied', 'SecurityError')
        },
      })
    })
    await page.locator('#language').selectOption('zh')
    await page.getByRole('heading', { name: '解析', level: 1 }).waitFor()
    await page.getByRole('link', { name: '生成' }).click()
    await page.getByRole('button', { name: '生成 ID' }).click()
    await page.getByRole('heading', { name: '已生成 ID：10' }).waitFor()
    expectNoFaults()
  })

  it('has a policy that allows no inline code and no connection', async () => {
    const { page } = await site.visit('')
    const policy = await page.locator('meta[http-equiv=Content-Security-Policy]').getAttribute('content')
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    const refused = await page.evaluate(async () => {
      const violations: string[] = []
      addEventListener('securitypolicyviolation', (event) => violations.push(event.effectiveDirective))
      document.body.append(Object.assign(document.createElement('script'), { text: 'window.broken = true' }))
      await fetch('./page.js').catch(() => {})
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      return { violations, isBroken: 'broken' in window }
    })
    expect(refused.isBroken).toBe(false)
    expect(refused.violations).toEqual(expect.arrayContaining(['script-src-elem', 'connect-src']))
  })

  it('can be used by the keyboard alone', async () => {
    const { page, expectNoFaults } = await site.visit('#generate')
    await page.keyboard.press('Tab')
    await page.getByRole('link', { name: 'Skip to the content' }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('How it works')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('generate-layout')
    for (let i = 0; i < 4; i++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    expectNoFaults()
  })

  it('keeps the focus on a moved field, and moves it beside a removed field', async () => {
    const { page, expectNoFaults } = await site.visit(filled.design)
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
    await page.getByRole('button', { name: 'Move sequence up' }).click()
    expect(await focused()).toBe('Move sequence up')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    expect(await page.locator('pre').innerText()).toContain("fields: [\n    ['sequence', 12],")
    // The field is now the first, and cannot move up.
    expect(await focused()).toBe('Move sequence down')
    await page.getByRole('button', { name: 'Remove region' }).click()
    expect(await focused()).toBe('Remove worker')
    expectNoFaults()
  })

  it('tells a screen reader the result, without the ids and the code', async () => {
    const { page, expectNoFaults } = await site.visit(filled.generate)
    // Records all that live regions say from now on.
    await page.evaluate(() => {
      const said: string[] = []
      Object.assign(window, { said })
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const element = target instanceof Element ? target : target.parentElement
          const live = element?.closest('[role=status], [aria-live=polite]')
          if (live) said.push(live.textContent ?? '')
        }
      }).observe(document, { childList: true, characterData: true, subtree: true })
    })
    const said = () => page.evaluate(() => (window as unknown as { said: string[] }).said.splice(0))
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 3' }).waitFor()
    const made = (await said()).map((text) => text.trim())
    expect(made.at(-1)).toBe('Ids made: 3')
    expect(made.join('')).not.toMatch(/\d{5}/)
    await page.getByLabel('How many').fill('many')
    expect((await said()).join('')).toContain('“many” does not fit')
    await goTo(page, filled.design)
    await said()
    await page.getByRole('slider', { name: 'Bits of worker' }).press('ArrowLeft')
    await page.getByText("['worker', 5],").waitFor()
    const changed = await said()
    expect(changed.at(-1)).toBe('Ids a second and node: 4,096,000; Nodes: 512; Runs out on: 6 September 2093')
    expect(changed.join('')).not.toContain('defineLayout')
    expectNoFaults()
  })

  it.each(['light', 'dark'] as const)('passes axe in %s', async (colorScheme) => {
    const { page, expectNoFaults } = await site.visit('', { colorScheme, reducedMotion: 'reduce', bypassCSP: true })
    await page.addScriptTag({ path: axe })
    for (const [name, hash] of Object.entries(filled)) {
      await goTo(page, hash)
      if (name.startsWith('generate')) await page.getByRole('button', { name: 'Make ids' }).click()
      if (name.startsWith('generate')) await page.getByRole('heading', { name: 'Ids made' }).waitFor()
      const { violations } = (await page.evaluate('axe.run()')) as AxeResults
      expect(violations.map(({ id, nodes }) => `${name}: ${id}: ${nodes.map(({ html }) => html)}`)).toEqual([])
    }
    expectNoFaults()
  })

  it.each([360, 640])('has no line wider than a window of %i pixels', async (width) => {
    const { page, expectNoFaults } = await site.visit('', { viewport: { width, height: 800 }, locale: 'ru' })
    for (const [name, hash] of Object.entries(filled)) {
      await goTo(page, hash)
      // Tables and code scroll by themselves.
      const wide = await page.evaluate(() => {
        const end = document.body.getBoundingClientRect().right
        return [...document.body.querySelectorAll('*')]
          .filter((one) => one.closest('.scroll, pre, .hidden, .file, svg') === null)
          .filter((one) => one.getBoundingClientRect().right > end + 0.5)
          .map(({ outerHTML }) => outerHTML.slice(0, 200))
      })
      expect({ name, wide }).toEqual({ name, wide: [] })
    }
    expectNoFaults()
  })

  it('draws the picture in print as on the screen, with a pattern for each field', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=1541815603606036480&layout=twitter')
    await page.emulateMedia({ media: 'print' })
    await page.locator('svg.bits').waitFor()
    expect(await page.locator('textarea').isVisible()).toBe(false)
    const patterns = await page
      .locator('svg.bits .pattern')
      .evaluateAll((all) => all.map((one) => one.getAttribute('d')))
    // The timestamp and unused bits are plain. Each node field and the sequence have a pattern of lines.
    const kinds = patterns.filter((d) => d !== '').map((d) => d?.replace(/[\d.]+/g, '').slice(0, 4))
    expect(new Set(kinds).size).toBe(3)
    expectNoFaults()
  })

  it('prints no table and no code wider than the paper', async () => {
    const { page, expectNoFaults } = await site.visit(filled.many, { viewport: { width: 718, height: 1000 } })
    await page.emulateMedia({ media: 'print' })
    await page.getByRole('heading', { name: 'Each id' }).waitFor()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(718)
    await page.emulateMedia({ media: 'screen' })
    await goTo(page, filled.learn)
    await page.emulateMedia({ media: 'print' })
    const code = page.locator('pre')
    await code.waitFor()
    expect(await code.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(718)
    expectNoFaults()
  })

  it("copies without the browser's clipboard, and leaves the focus on the button", async () => {
    const { page, expectNoFaults } = await site.visit(filled.generate)
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined })
    })
    await page.getByRole('button', { name: 'Make ids' }).click()
    const button = page.getByRole('button', { name: 'Copy all' })
    await button.click()
    await page.getByText('Copied.').waitFor()
    expect(await button.evaluate((one) => one === document.activeElement)).toBe(true)
    await page.evaluate(() => {
      document.execCommand = () => false
    })
    await button.click()
    await page.getByText('The browser does not allow the page to copy.').waitFor()
    expectNoFaults()
  })
})

async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash
  }, hash)
  await page.locator(`nav a[aria-current=page][href="${hash}"]`).waitFor()
}
