import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { expect, it } from 'vitest'
import { pagesFolder } from '../../src/host/folder.js'
import { graupel, lines } from '../support/cli.js'
import { repository } from '../support/documents.ts'
import { describeWith, folder, withMounts } from '../support/needs.js'

const isWindows = process.platform === 'win32'
const own = basename(pagesFolder())

const list = async (GRAUPEL_STATE_FOLDER: string) => (await lines(['state'], { GRAUPEL_STATE_FOLDER })).join('\n')

it('looks for pages below GRAUPEL_STATE_FOLDER', async () => {
  const chosen = mkdtempSync(join(folder, 'chosen-'))
  expect(await list(chosen)).toBe(
    `There is no page and no claim in ${join(chosen, own)}: nothing on this host remembers ids of this user.`,
  )
})

it('takes GRAUPEL_STATE_FOLDER as it stands, and leaves its links and dots to the system', async () => {
  const chosen = `${folder}${sep}link${sep}..${sep}there`
  expect(await list(chosen)).toContain(`There is no page and no claim in ${chosen}${sep}${own}:`)
})

it('takes an empty GRAUPEL_STATE_FOLDER for none', async () => {
  const { status } = await graupel(['state'], { GRAUPEL_STATE_FOLDER: '' })
  expect(status).toBe(0)
})

it('names the folder of another user by that id', () => {
  if (!isWindows) expect(pagesFolder(65534n)).toMatch(/[/]graupel-65534$/)
})

it.each(['pages', './pages', '../pages', ...(isWindows ? ['\\pages', 'C:pages'] : ['C:\\pages'])])(
  'refuses %s as GRAUPEL_STATE_FOLDER, because each process would find another folder',
  async (GRAUPEL_STATE_FOLDER) => {
    const { status, stdout, stderr } = await graupel(['state'], { GRAUPEL_STATE_FOLDER })
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toBe(
      `graupel: GRAUPEL_STATE_FOLDER is '${GRAUPEL_STATE_FOLDER}', and a relative path leads each process elsewhere; set it to an absolute path, the same for all processes of the user (ERR_OPTION_INVALID)\n`,
    )
  },
)

describeWith(['linux', 'mounts'], 'on Linux', () => {
  it('looks for pages in /dev/shm, and in /tmp if there is no /dev/shm', () => {
    const within = (script: string, node = process.execPath, place = repository) => {
      const [command = '', ...words] = withMounts(script, [node, join(place, 'dist/cli/main.js'), 'state'])
      const { stdout, stderr } = spawnSync(command, words, {
        env: { ...process.env, GRAUPEL_STATE_FOLDER: '' },
        encoding: 'utf8',
      })
      return stdout + stderr
    }
    expect(within('mount -t tmpfs none /dev/shm')).toContain(`There is no page and no claim in /dev/shm/${own}:`)
    const devices = mkdtempSync(join(folder, 'devices-'))
    const bound = ['null', 'zero', 'random', 'urandom'].map(
      (name) => `touch ${name}; mount --bind /dev/${name} ${name}`,
    )
    // The repository and Node may be in /tmp themselves.
    const both = `mkdir repository; mount --bind '${repository}' repository; touch node; mount --bind '${process.execPath}' node`
    const without = `mount -t tmpfs none ${devices}; cd ${devices}; ${bound.join('; ')}; ${both}; mount --rbind ${devices} /dev; cd /; mount -t tmpfs none /tmp`
    expect(within(without, '/dev/node', '/dev/repository')).toContain(`There is no page and no claim in /tmp/${own}:`)
  })
})
