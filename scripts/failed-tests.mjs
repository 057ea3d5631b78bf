// Prints which tests of vitest's JSON reports failed and why, then "N passed, N failed, N skipped". A test
// that failed and passed when it ran again (a report "…-again.json") counts as passed. With --files it
// prints only the files of failed tests.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { root } from './root.mjs'

const MAX_REASON_CHARACTERS = 600

/** @typedef {{ fullName: string, status: string, failureMessages: string[] }} Test */
/** @typedef {{ name: string, status: string, message: string, assertionResults: Test[] }} File */
/** @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, testResults: File[] }} Report */

const isFiles = process.argv.includes('--files')
const paths = process.argv.slice(2).filter((path) => path !== '--files')
const reports = paths.map((path) => ({
  isAgain: path.endsWith('-again.json'),
  .../** @type {Report} */ (JSON.parse(readFileSync(path, 'utf8'))),
}))
const failures = reports.flatMap(({ testResults, isAgain }) =>
  testResults.flatMap((file) => failuresOf(file).map((failure) => ({ ...failure, isAgain }))),
)

if (isFiles) {
  for (const file of new Set(failures.map((failure) => failure.file))) console.log(file)
} else {
  for (const { file, name, reason } of failures) console.log(`FAILED ${file}: ${name}\n${reason}\n`)
  // Without a first report, this is about a second run alone.
  const first = reports.every(({ isAgain }) => isAgain)
    ? reports
    : reports.filter(({ isAgain }) => !isAgain)
  const again = reports.filter((report) => report.isAgain && !first.includes(report))
  /** @param {typeof reports} of @param {'numPassedTests' | 'numFailedTests' | 'numPendingTests'} key */
  const sum = (of, key) => of.reduce((total, report) => total + report[key], 0)
  const repaired =
    again.length > 0 ? sum(first, 'numFailedTests') - sum(again, 'numFailedTests') : 0
  const passed = sum(first, 'numPassedTests') + repaired
  const failed = sum(first, 'numFailedTests') - repaired
  const note = repaired > 0 ? ` (${repaired} only when run again)` : ''
  console.log(`${passed} passed${note}, ${failed} failed, ${sum(first, 'numPendingTests')} skipped`)
}

/** @param {File} file */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name)
  const failed = assertionResults
    .filter((test) => test.status === 'failed')
    .map(({ fullName, failureMessages }) => ({
      file,
      name: fullName,
      reason: failureMessages.join('\n').slice(0, MAX_REASON_CHARACTERS),
    }))
  const isBroken = status === 'failed' && failed.length === 0
  return isBroken
    ? [{ file, name: 'the file', reason: message.slice(0, MAX_REASON_CHARACTERS) }]
    : failed
}
