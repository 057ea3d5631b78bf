// Writes until the disk or the file size limit is full; prints the error, and checks that reads continue
// and that nothing is partially written. Then waits for a line on standard input, after which there is
// room again, and checks that writes work. Argument: the directory. Prints one JSON line per step.

import { once } from 'node:events'
import { checkStorage } from '../../../src/storage/check.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'

const storage = openStorage({ directory: process.argv[2]!, sweepIntervalMs: 5 })
const table = await storage.createTable({
  name: 'items',
  keys: { partition: { name: 'id', type: 'S' } },
  indexes: [
    {
      name: 'by-group',
      kind: 'global',
      keys: { partition: { name: 'group', type: 'S' } },
      projection: { type: 'ALL' },
    },
  ],
})

const text = 'x'.repeat(3000)

/** Ten concurrent transactions of three items each. */
function batch(name: string): Promise<PromiseSettledResult<void>[]> {
  return Promise.allSettled(
    Array.from({ length: 10 }, (_, i) =>
      storage.write((tx) => {
        for (const part of ['a', 'b', 'c']) {
          tx.put(table, { id: `${name}-${i}-${part}`, group: `${name}-${i}`, text }, undefined)
        }
      }),
    ),
  )
}

let acknowledged = 0
for (let round = 0; ; round++) {
  const outcomes = await batch(String(round))
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected')
  acknowledged += outcomes.length - rejected.length
  if (rejected.length === 0) continue
  const errors = rejected.map((outcome) => outcome.reason as NodeJS.ErrnoException)
  // More than the pages that the failed commit has left.
  const again = (await Promise.all(['d', 'e', 'f'].map(batch))).flat()
  console.log(
    JSON.stringify({
      step: 'full',
      name: errors[0]?.name,
      message: errors[0]?.message,
      code: errors[0]?.code,
      together: new Set(errors.map((error) => error.message)).size === 1,
      stillFull: again.some((outcome) => outcome.status === 'rejected'),
      readable: storage.get(table, { id: '0-0-a' })?.['group'],
    }),
  )
  acknowledged += again.filter((outcome) => outcome.status === 'fulfilled').length
  break
}

await once(process.stdin, 'data')
const after = await batch('after')
acknowledged += after.filter((outcome) => outcome.status === 'fulfilled').length
const { items, problems } = await checkStorage(storage)
console.log(
  JSON.stringify({
    step: 'room',
    written: after.every((outcome) => outcome.status === 'fulfilled'),
    exact: items === acknowledged * 3,
    problems,
  }),
)
await storage.close()
process.exit(0)
