// Takes docs/page-light.webp and docs/page-dark.webp, the pictures of the page in docs/page.md.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'

const root = fileURLToPath(new URL('..', import.meta.url))
const hash = '#parse?ids=175928847299117063&layout=discord'

/** The time of the pictures, which show how long ago the id was made. */
const now = new Date('2026-01-01T00:00:00Z')

const folder = mkdtempSync(join(tmpdir(), 'graupel-picture-'))
try {
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const built = spawnSync(process.execPath, [vite, 'build', 'web', '--outDir', folder], { cwd: root, stdio: 'inherit' })
  if (built.status !== 0) throw new Error('the page cannot be built')
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  for (const colorScheme of ['light', 'dark'] as const) {
    const options = { colorScheme, locale: 'en-GB', timezoneId: 'UTC', viewport: { width: 1100, height: 800 } }
    const page = await browser.newPage(options)
    await page.clock.setFixedTime(now)
    await page.goto(pathToFileURL(join(folder, 'index.html')).href + hash)
    const parts = page.locator('section.parts')
    await parts.waitFor()
    const box = await parts.boundingBox()
    if (box === null) throw new Error('the page shows no parts')
    // Playwright itself writes PNG, which is twice as large, and JPEG, which blurs text.
    const session = await page.context().newCDPSession(page)
    const { data } = await session.send('Page.captureScreenshot', {
      format: 'webp',
      quality: 70,
      captureBeyondViewport: true,
      clip: { ...box, scale: 1 },
    })
    const file = `docs/page-${colorScheme}.webp`
    writeFileSync(join(root, file), Buffer.from(data, 'base64'))
    console.log(file)
  }
  await browser.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
