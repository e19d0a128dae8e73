// Adds up the JSON reports of several runs of vitest, for .ci/run: `tsx scripts/sum-results.ts STATUS FILE
// …`. The last line is 'N passed, N failed'. A run without a report, or without tests, has failed.
import { existsSync, readFileSync } from 'node:fs'

interface Report {
  readonly success: boolean
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const [status, ...files] = process.argv.slice(2)
const total = { passed: 0, failed: 0, skipped: 0 }
let isSuccess = status === '0'
for (const file of files) {
  if (!existsSync(file)) {
    console.log(`${file} was not written`)
    total.failed++
    continue
  }
  const report: Report = JSON.parse(readFileSync(file, 'utf8'))
  // A file that does not load, or a hook that throws, is not counted as a failed test.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  for (const { name, message } of brokenFiles) console.log(`${name}: ${message}`)
  // The reports of the runs stand far above, so the reasons are repeated here.
  for (const { name, assertionResults } of report.testResults) {
    for (const test of assertionResults) {
      if (test.status === 'failed')
        console.log(`failed: ${name} > ${test.fullName}\n${test.failureMessages.join('\n')}`)
    }
  }
  total.passed += report.numPassedTests
  total.failed += report.numFailedTests + brokenFiles.length
  total.skipped += report.numPendingTests + report.numTodoTests
  if (report.numPassedTests === 0 || !report.success) isSuccess = false
}
const { passed, failed, skipped } = total
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
if (failed > 0 || !isSuccess) process.exitCode = 1
