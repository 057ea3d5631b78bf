// Converts a directory with the conversions of tests. Arguments: the directory, and the number of reports
// of its progress after which it kills itself. Prints each report, and why it failed.

import { convertDirectory } from '../../../src/storage/conversions/convert.ts'
import { testConversions } from '../conversions.ts'

const [directory, reports = 'Infinity'] = process.argv.slice(2) as [string, string?]
let seen = 0

try {
  await convertDirectory(directory, {
    conversions: testConversions,
    onProgress(progress) {
      process.stdout.write(`${JSON.stringify(progress)}\n`)
      seen++
      if (seen >= Number(reports)) process.kill(process.pid, 'SIGKILL')
    },
  })
} catch (error) {
  console.log(String(error))
}
