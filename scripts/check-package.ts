// Proves that what is published can be consumed (part of `npm run check`): packs it and asks publint and
// "are the types wrong?" about the tarball.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

const folder = mkdtempSync(join(tmpdir(), 'graupel-check-'))
try {
  const command = ['pack', '--silent', '--pack-destination', folder]
  execFileSync('npm', command, { shell: process.platform === 'win32' })
  const [filename = ''] = readdirSync(folder)
  const tarball = join(folder, filename)
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'))

  const { messages } = await publint({ pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer } })
  for (const message of messages) console.error(`publint: ${message.type}: ${formatMessage(message, manifest)}`)

  const attw = join(
    dirname(createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json')),
    'dist/index.js',
  )
  const { status, stdout } = spawnSync(process.execPath, [attw, tarball], { encoding: 'utf8' })
  if (status !== 0) console.error(stdout)

  if (messages.length > 0 || status !== 0) process.exitCode = 1
  else console.log(`check-package: publint and attw find no fault in ${filename}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
