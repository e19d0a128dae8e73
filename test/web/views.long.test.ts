import { readFileSync } from 'node:fs'
import { decode, layouts } from 'graupel'
import { decodeUuid } from 'graupel/uuid'
import { afterEach, expect, it } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { missingChromium, siteForTests } from './support/browser.ts'

interface Vector {
  layout: keyof typeof layouts
  epochMs?: number
  id: string
  timestampMs: number
  fields: Record<string, number>
  sequence: number
}

const { ids: vectors } = JSON.parse(readFileSync(new URL('../support/vectors.json', import.meta.url), 'utf8')) as {
  ids: Vector[]
}

describeWith([missingChromium], 'the page', () => {
  const site = siteForTests('/tools/ids/')
  afterEach(() => site.leave())

  it('decodes the ids of other systems', async () => {
    const { page, expectNoFaults } = await site.visit('')
    for (const { layout, epochMs, id, timestampMs, fields, sequence } of vectors) {
      await page.getByLabel('Ids', { exact: true }).fill(id)
      await page.getByLabel('Layout', { exact: true }).selectOption(layout)
      await page.getByLabel('Epoch', { exact: true }).fill(epochMs === undefined ? '' : String(epochMs))
      const parts = page.getByRole('table', { name: 'Parts' })
      await parts.getByText(new Date(timestampMs).toISOString()).waitFor()
      const rows = await parts.getByRole('row').allInnerTexts()
      for (const [name, value] of Object.entries({ ...fields, Sequence: sequence })) {
        const row = rows.find((text) => text.trim().startsWith(name))
        expect(row?.replace(/[\s,]+/g, ' ')).toContain(` ${value.toLocaleString('en').replace(',', ' ')} `)
      }
    }
    expectNoFaults()
  })

  it('opens the likeliest layout at once, and keeps the others one key away', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=175928847299117063')
    const guesses = page.getByRole('region', { name: 'Which layout made it?' })
    await guesses.getByText('The likeliest, discord, is shown as a guess.').waitFor()
    const parts = page.getByRole('table', { name: 'Parts' })
    await parts.getByText('2016-04-30T11:18:25.796Z').waitFor()
    // Also in the time zone of the browser, and from now, in each row of the layouts.
    const row = guesses.getByRole('row').filter({ hasText: 'discord' })
    for (const place of [parts, row]) expect(await place.innerText()).toMatch(/19:18:25[\s\S]* years ago/)
    const names = (await guesses.getByRole('rowheader').allInnerTexts()).map((name) => name.trim())
    expect(names[0]).toBe('discord')
    expect(names).toEqual(expect.arrayContaining(['twitter', 'leaf']))
    await page.keyboard.press(`Alt+${names.indexOf('twitter') + 1}`)
    await page.getByText('You chose twitter').waitFor()
    await parts.getByText('2012-03-03T13:01:20.453Z').waitFor()
    await expect.poll(() => page.url()).toContain('layout=twitter')
    expectNoFaults()
  })

  it('warns of rounded numbers, and says once that a text has no id', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const ids = page.getByLabel('Ids', { exact: true })
    await ids.fill('{"ids":[1541815603606036500]}')
    await page.getByText('1541815603606036500 looks rounded').waitFor()
    await ids.fill('{"ids":["1541815603606036480"]}')
    await page.getByRole('table', { name: 'Parts' }).getByText('2022-06-28T16:07:40.105Z').waitFor()
    expect(await page.getByText('looks rounded').count()).toBe(0)
    await ids.fill('Lorem ipsum dolor sit amet,\nsed diam nonumy.')
    await page.getByText('There is no id in this text.').waitFor()
    expect(await page.locator('.troubles').count()).toBe(0)
    expectNoFaults()
  })

  it('has room for two layouts and for the menu on a phone', async () => {
    const viewport = { width: 360, height: 740 }
    const { page, expectNoFaults } = await site.visit('#compare?old=twitter&new=wide', { viewport })
    const facts = page.getByRole('group', { name: 'Side by side' })
    await facts.getByText('wide').first().waitFor()
    for (const heading of await facts.getByRole('columnheader').all()) {
      const box = await heading.boundingBox()
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360)
    }
    expect(await facts.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    for (const language of ['en', 'zh', 'ru', 'sw']) {
      await page.locator('#language').selectOption(language)
      const links = await page.getByRole('navigation').getByRole('link').all()
      const boxes = await Promise.all(links.map((link) => link.boundingBox()))
      expect(new Set(boxes.map((box) => box?.y)).size, language).toBe(1)
      expect(Math.max(...boxes.map((box) => (box?.x ?? 0) + (box?.width ?? 0))), language).toBeLessThanOrEqual(360)
    }
    expectNoFaults()
  })

  it('shows an id that was just made as a guess', async () => {
    const id = BigInt(Date.now()) << 16n
    const { page, expectNoFaults } = await site.visit(`#parse?ids=${id}`)
    await page.getByText('The likeliest, mastodon, is shown as a guess').waitFor()
    await page.getByText('if it is mastodon').waitFor()
    expectNoFaults()
  })

  it('makes no ids of a decode-only layout, even if a link names it', async () => {
    const { page, expectNoFaults } = await site.visit('#generate')
    const names = await page.getByLabel('Layout').locator('option').allInnerTexts()
    expect(names).toContain('twitter')
    expect(names).not.toContain('mastodon')
    await page.goto(`${site.url}#generate?layout=mastodon&time=2024-01-01`)
    await page.getByText('The page can only decode ids of mastodon').waitFor()
    expectNoFaults()
  })

  it('reads every encoding, and names the encoding that it found', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const field = page.getByLabel('Ids', { exact: true })
    const forms = [
      ['175928847299117063', 'Found: decimal'],
      ['0271069c2ec00007', 'Found: hex'],
      ['02 71 06 9c 2e c0 00 07', 'Found: bytes'],
      ['0Czks0tP37X', 'base62'],
    ] as const
    const id = 175928847299117063n
    for (const [text, found] of forms) {
      const written = found.endsWith('hex') || found.endsWith('bytes') ? hexOf(id, text.includes(' ')) : text
      await field.fill(written)
      await page.locator('#parse-encoding-words', { hasText: found }).waitFor()
      await page.getByRole('table', { name: 'Encodings' }).getByText(String(id)).waitFor()
    }
    expectNoFaults()
  })

  it('reads UUIDs and TypeIDs: version, time, and their ids in the layouts that fit', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=0181AB11-8149-7000-97A0-000000000000')
    await page.getByRole('heading', { name: '0181ab11-8149-7000-97a0-000000000000' }).waitFor()
    const facts = page.getByRole('region', { name: '0181ab11' })
    const rows = (await facts.getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
    expect(rows.slice(0, 2)).toEqual(['Version 7', 'Variant rfc'])
    expect(rows[2]).toMatch(/^Time 2022-06-28T16:07:40.105Z .* 00:07:40.105.* ago$/)
    await facts.getByText('Nothing in a UUID tells its layout, or whether graupel made it.').waitFor()
    const guesses = page.getByRole('region', { name: 'Which layout made it?' })
    await guesses.getByText('The first, twitter, is shown as a guess.').waitFor()
    expect(await guesses.getByText('mastodon').count()).toBe(0)
    const discord = guesses.getByRole('row', { name: 'discord' })
    expect((await discord.innerText()).split(/\s+/)).toEqual(
      expect.arrayContaining(['worker', '11', 'process', '26', '0', '991374334148190208']),
    )
    await page.getByRole('heading', { name: '1541815603606036480 if it is twitter' }).waitFor()
    await page.keyboard.press('Alt+3')
    await page.getByRole('heading', { name: '991374334148190208 as discord' }).waitFor()
    await page.getByLabel('Layout', { exact: true }).selectOption('baidu')
    await page.locator('.troubles', { hasText: 'UUIDs of this layout cannot have this time' }).waitFor()

    await page.goto(`${site.url}#parse?ids=prefix_01h455vb4pex5vsknk084sn02q`)
    await page.getByText('Another program has probably made it.').waitFor()
    await page.getByRole('heading', { name: '01890a5d-ac96-774b-bcce-b302099a8057' }).waitFor()
    expectNoFaults()
  })

  it('shows several UUIDs in rows, of which one is chosen by the keyboard', async () => {
    const uuids = ['{0181ab11-8149-7000-97a0-000000000000}', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'x']
    const { page, expectNoFaults } = await site.visit(`#parse?ids=${uuids.join('%0A')}`)
    await page.getByText('Line 3: x (1 characters) is an id in no encoding.').first().waitFor()
    const rows = page.getByRole('group', { name: 'Each id' }).getByRole('row')
    expect((await rows.nth(1).innerText()).replace(/\s+/g, ' ')).toContain('2022-06-28 16:07:40.105 datacenter 11')
    expect(await rows.nth(2).innerText()).toContain('1997-02-03 17:43:12.216')
    await page.getByRole('radio', { name: '0181ab11' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' }).waitFor()
    await page.getByText('graupel makes UUIDs of versions 7 and 8.').waitFor()
    expect(await page.getByRole('region', { name: 'Which layout made it?' }).count()).toBe(0)
    expectNoFaults()
  })

  it('makes UUIDs, the same in the list, in the clipboard and in files', async () => {
    const { page, context, expectNoFaults } = await site.visit('#generate?node=3.9&format=uuid')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    const shown = await page.locator('table.ids code').allInnerTexts()
    await page.getByRole('button', { name: 'Copy all' }).click()
    await page.getByText('Copied.').waitFor()
    expect((await page.evaluate(() => navigator.clipboard.readText())).trim().split('\n')).toEqual(shown)
    expect(shown).toEqual([...new Set(shown)].sort())
    for (const uuid of shown) {
      expect(decodeUuid(uuid, layouts.twitter)).toMatchObject({ version: 7, fields: { datacenter: 3, worker: 9 } })
    }
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ])
    expect(
      readFileSync(await file.path(), 'utf8')
        .split('\n')[1]
        ?.split(',')[0],
    ).toBe(shown[0])
    // The same ids in decimal, and back.
    await page.locator('#generate-format').selectOption('decimal')
    const [first] = await page.locator('table.ids code').allInnerTexts()
    expect(first).toBe(String(decodeUuid(shown[0] as string, layouts.twitter).id))
    await page.locator('#generate-format').selectOption('uuid')
    await page.getByRole('link', { name: shown[0] as string }).click()
    await page.getByRole('heading', { name: `${first} as twitter` }).waitFor()
    await page.goto(`${site.url}#generate?layout=baidu&epoch=2024-01-01&format=uuid`)
    await page.getByText('13 bits of sequence and 22 of node').waitFor()
    expectNoFaults()
  })

  it('explains why a text is no id, and keeps the text', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const field = page.getByLabel('Ids', { exact: true })
    const wrong = [
      ['-5', 'the unsigned number is 18446744073709551611'],
      ['1.54e18', 'its last digits are lost'],
      ['99999999999999999999', 'is too large'],
      ['hello', 'is an id in no encoding'],
    ] as const
    for (const [text, words] of wrong) {
      await field.fill(text)
      await page.getByText(words).waitFor()
      expect(await field.inputValue()).toBe(text)
    }
    await page.getByLabel('Epoch', { exact: true }).fill('yesterday')
    await page.getByText('“yesterday” is no time').waitFor()
    await page.getByRole('link', { name: 'Design' }).click()
    await page.getByLabel('Name', { exact: true }).fill('mine')
    await page.getByRole('link', { name: 'Parse', exact: true }).click()
    expect(await field.inputValue()).toBe('hello')
    expect(await page.getByLabel('Epoch', { exact: true }).inputValue()).toBe('yesterday')
    // The text is too long for a link, and still kept. Its lines are few, because Playwright fills a field
    // line by line, each with an event.
    const long = `${'hello'.repeat(100)}\n`.repeat(24)
    await field.fill(long)
    await expect.poll(() => page.url()).toContain('left-out=ids')
    page.once('dialog', (dialog) => dialog.accept())
    await page.reload()
    expect(await field.inputValue()).toBe(long)
    await field.fill('hello')
    await expect.poll(() => page.url()).toContain('ids=hello')
    await page.reload()
    expect(await field.inputValue()).toBe('hello')
    await page.getByRole('link', { name: 'Design' }).click()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('mine')
    expectNoFaults()
  })

  it('explains the fault of a link, and goes on', async () => {
    const { page, expectNoFaults } = await site.visit('')
    const wrong = [
      ['#parse?ids=5&encoding=constructor', "the encoding is 'constructor'"],
      ['#generate?format=__proto__', "the encoding is '__proto__'"],
      ['#compare?encoding=x', "the encoding is 'x'"],
      ['#compare?newEpoch=%2B275760-01-01', 'reach beyond the year 275760'],
      ['#generate?epoch=%2B275760-01-01', 'reach beyond the year 275760'],
      ['#parse?ids=1,2&row=-5&layout=leaf', 'Together'],
      [`#parse?layout=${'q'.repeat(9000)}`, 'The layout of the link cannot be read: qqqq'],
      [`#parse?ids=${encodeURIComponent('<img src=x onerror=alert(1)>')}`, 'There is no id in this text.'],
      [`#design?fields=${'a.1,'.repeat(50_000)}`, 'There are two fields called a.'],
    ] as const
    for (const [hash, words] of wrong) {
      await page.goto(site.url + hash)
      await page.getByText(words).first().waitFor()
      expect(await page.locator('img').count()).toBe(0)
    }
    await page.goto(`${site.url}#generate?format=nothing`)
    await page.locator('#generate-format').selectOption('hex')
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    expectNoFaults()
  })

  it('shows the order of several ids and the gaps between them', async () => {
    const ids = ['1541815603606036480', '1541815603606036482', '1541815603606036481', '1541815703606036482', 'x']
    const { page, expectNoFaults } = await site.visit(`#parse?layout=twitter&ids=${ids.join('%0A')}`)
    await page.getByText('Not ascending. Steps back: 1; the first is at id 3.').waitFor()
    await page.getByText('Line 5:').waitFor()
    await page.getByText('23.842 sec').first().waitFor()
    await page.getByRole('radio', { name: '1541815703606036482' }).check()
    await page.getByRole('heading', { name: '1541815703606036482' }).waitFor()
    expectNoFaults()
  })

  it('makes ids, which can be copied and downloaded', async () => {
    const { page, context, expectNoFaults } = await site.visit('#generate?node=3.9')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    await page.getByRole('button', { name: 'Copy all' }).click()
    await page.getByText('Copied.').waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    const ids = copied.trim().split('\n')
    expect(new Set(ids).size).toBe(10)
    for (const id of ids) expect(decode(id, layouts.twitter).fields).toEqual({ datacenter: 3, worker: 9 })

    await page.getByRole('button', { name: `Copy ${ids[4]}` }).click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(ids[4])

    // Its link has the layout of the batch.
    await page.getByLabel('Layout', { exact: true }).selectOption('discord')
    expect(await page.getByRole('link', { name: String(ids[4]) }).getAttribute('href')).toContain('layout=twitter')

    const csv = await download('CSV')
    expect(csv.name).toBe('ids.csv')
    expect(csv.text.split('\n')[0]).toBe('id,timestamp,datacenter,worker,sequence')
    expect(csv.text.split('\n')[1]?.split(',')[0]).toBe(ids[0])
    const json = JSON.parse((await download('JSON')).text)
    expect(json.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(json[0]).toMatchObject({ fields: { datacenter: 3, worker: 9 }, sequence: 0 })
    expectNoFaults()

    async function download(button: string) {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: button, exact: true }).click(),
      ])
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
    }
  })

  it('makes no id of a typed time twice, and refuses values out of range', async () => {
    const { page, expectNoFaults } = await site.visit('#generate?time=2020-01-01&count=5000&layout=js53')
    const make = page.getByRole('button', { name: 'Make ids' })
    const first = page.locator('table.ids tbody tr').first()
    await make.click()
    await first.getByText('2020-01-01 00:00:00.000').waitFor()
    await make.click()
    // 5000 ids are used, 128 a tick.
    await first.getByText('2020-01-01 00:00:00.039').waitFor()
    await page.getByLabel('Time (optional)').fill('2019-12-31')
    await page.getByText('is before the epoch of the layout').waitFor()
    await page.getByLabel('How many').fill('100001')
    await page.getByText('“100001” does not fit').waitFor()
    await make.click()
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true')
    expect(await page.getByLabel('How many').inputValue()).toBe('100001')
    await page.getByLabel('Time (optional)').fill('')
    await page.getByLabel('How many').fill('3')
    await page.getByLabel('Layout', { exact: true }).selectOption('baidu')
    await make.click()
    await page.getByRole('heading', { name: 'No ids were made' }).waitFor()
    expectNoFaults()
  })

  it('designs a layout by sliders and numbers, with its code and its link', async () => {
    const { page, context, expectNoFaults } = await site.visit('#design')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText("['region', 4],").waitFor()
    await page.getByRole('slider', { name: 'Bits of sequence' }).press('ArrowRight')
    await page
      .locator('.troubles', {
        hasText: 'The fields have 64 bits together; at most 63 are possible. Shorten them by 1.',
      })
      .waitFor()
    await page.getByRole('checkbox', { name: /Unsigned/ }).check()
    await page.getByText('a signed column shows late ids as negative').waitFor()
    await page.getByRole('textbox', { name: 'Bits of worker' }).fill('3x')
    await page.getByText('“3x” does not fit').waitFor()
    await page.getByRole('textbox', { name: 'Bits of worker' }).fill('3')
    await page.getByRole('status').getByText('8,192,000').waitFor()
    await page.getByRole('textbox', { name: 'Name of field 2' }).fill('timestamp')
    await page.getByText('There are two fields called timestamp.').waitFor()
    await page.getByRole('textbox', { name: 'Name of field 2' }).fill('zone')
    await page.getByRole('button', { name: 'Move sequence up' }).click()
    await page.getByText('within a tick, ids of different nodes interleave').waitFor()

    await page.getByRole('button', { name: 'Copy a link to this' }).click()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const code = await page.locator('pre').innerText()
    expect(code).toContain("['zone', 4],\n    ['sequence', 13],\n    ['worker', 3],")
    const other = await site.visit(new URL(link).hash)
    expect(await other.page.locator('pre').innerText()).toBe(code)

    await page.getByRole('link', { name: 'Make ids with it' }).click()
    await page.getByRole('button', { name: 'Make ids' }).click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    expectNoFaults()
  })

  it('designs a layout with tags, makes its ids and reads them', async () => {
    const { page, expectNoFaults } = await site.visit('#design')
    await page.getByText('The sequence is below region, worker').waitFor()
    await page.getByRole('combobox', { name: 'Kind of region' }).selectOption('tag')
    await page.getByText("['region', 4, 'tag'],").waitFor()
    await page.getByText('The caller of a generator chooses the value of a tag').waitFor()
    await page.getByRole('combobox', { name: 'Kind of worker' }).selectOption('tag?')
    await page.getByText("['worker', 6, 'tag?'],").waitFor()
    await page.getByRole('combobox', { name: 'Kind of worker' }).selectOption('')
    await page.getByText("['worker', 6],").waitFor()
    // A field keeps its role with another name and other bits.
    await page.getByRole('textbox', { name: 'Name of field 2' }).fill('shard')
    await page.getByRole('textbox', { name: 'Bits of shard' }).fill('3')
    await page.getByText("['shard', 3, 'tag'],").waitFor()
    expect(await page.getByRole('combobox', { name: 'Kind of sequence' }).count()).toBe(0)

    await page.getByRole('link', { name: 'Make ids with it' }).click()
    const make = page.getByRole('button', { name: 'Make ids' })
    await make.click()
    // The tag has no default.
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('generate-tags-0')
    await page.getByLabel('shard', { exact: true }).fill('8')
    await page.getByText('“8” does not fit. Write a whole number from 0 to 7.').waitFor()
    await page.getByLabel('shard', { exact: true }).fill('5')
    await page.getByLabel('worker', { exact: true }).fill('3')
    await make.click()
    await page.getByRole('heading', { name: 'Ids made: 10' }).waitFor()
    await expect.poll(() => page.url()).toContain('shard.3.tag,worker.6,sequence.12&node=3&tags=5')
    await page.locator('table.ids a').first().click()
    const parts = page.getByRole('table', { name: 'Parts' })
    await parts.waitFor()
    const rows = (await parts.getByRole('row').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
    expect(rows).toEqual(expect.arrayContaining(['worker 3 0 to 63', 'shard 5 0 to 7 Tag']))
    await page.getByRole('img', { name: /shard 5 \(3\), worker 3 \(6\)/ }).waitFor()
    expectNoFaults()
  })

  it('scatters an id, and gathers a key that is scattered', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=2125716401201586176&layout=twitter')
    const forms = page.getByRole('table', { name: 'Encodings' })
    await forms.getByRole('row', { name: 'scatter' }).getByText('833068398543068').waitFor()
    await page.getByLabel('Ids', { exact: true }).fill('833068398543068')
    await forms.getByRole('row', { name: 'scatter' }).getByText('2125716401201586176').waitFor()
    expectNoFaults()
  })

  it('shows from when on new ids sort above old ids, and the ids and nodes in common', async () => {
    const { page, expectNoFaults } = await site.visit('#compare?old=leaf&new=leaf&newEpoch=2020-01-01')
    await page.getByText('No. At every time, new ids are smaller').waitFor()
    await page.getByLabel('Largest old id').fill('1541815603606036480')
    // The id is 367597485448 ms after the old epoch, and this time is as long after the new epoch.
    await page.getByText('from 2031-08-25T14:24:45.449Z on').waitFor()
    await page.getByLabel('Epoch', { exact: true }).nth(1).fill('')
    await page.getByRole('textbox', { name: 'Old ids' }).fill('1541815603606036480\n1541815603606036481\n')
    await page.getByRole('textbox', { name: 'New ids' }).fill('1541815603606036481, 1541815703606036482')
    await page.getByText('Ids that occur more than once: 1').waitFor()
    await page.getByText('Nodes on both sides: 1 (378)').waitFor()
    expectNoFaults()
  })

  it('has four languages, chosen by the browser or by hand', async () => {
    const { page, expectNoFaults } = await site.visit('#parse?ids=175928847299117063&layout=discord', {
      locale: 'sw-KE',
    })
    await page.getByRole('heading', { name: 'Changanua', level: 1 }).waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('sw')
    for (const [language, heading] of [
      ['zh', '解析'],
      ['ru', 'Разбор'],
      ['en', 'Parse'],
    ] as const) {
      await page.locator('#language').selectOption(language)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    }
    await page.locator('#language').selectOption('ru')
    await page.reload()
    await page.getByRole('heading', { name: 'Разбор', level: 1 }).waitFor()
    expect(await page.getByRole('table', { name: 'Части' }).innerText()).toContain(
      'от 0 до 4 095'.replace(' 095', '\u00a0095'),
    )
    expectNoFaults()
  })
})

function hexOf(id: bigint, isBytes: boolean): string {
  const hex = id.toString(16).padStart(16, '0')
  return isBytes ? hex.replace(/..(?=.)/g, '$& ') : hex
}
