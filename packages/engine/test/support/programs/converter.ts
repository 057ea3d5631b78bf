// Converts a directory. Arguments: the directory, the number of reports of its progress after which it
// kills itself, and `current` for the conversions of this version instead of those of tests. Prints each
// report, and why it failed.

import { convertDirectory } from '../../../src/storage/conversions/convert.ts'
import { testConversions } from '../conversions.ts'

const [directory, reports = 'Infinity', which] = process.argv.slice(2) as [string, string?, string?]
let seen = 0

try {
  await convertDirectory(directory, {
    ...(which === 'current' ? {} : { conversions: testConversions }),
    onProgress(progress) {
      process.stdout.write(`${JSON.stringify(progress)}\n`)
      seen++
      if (seen >= Number(reports)) process.kill(process.pid, 'SIGKILL')
    },
  })
} catch (error) {
  console.log(String(error))
}
