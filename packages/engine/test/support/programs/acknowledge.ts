// A few batches of concurrent writes, each acknowledged on standard output with one plain write call,
// so that a trace of system calls shows writes, flushes and acknowledgements in their order.

import { writeSync } from 'node:fs'
import { openStorage } from '../../../src/storage/open-storage.ts'

const [directory, how] = process.argv.slice(2) as [string, string | undefined]
const encrypted = how === 'encrypted'
const storage = openStorage({ directory, sweepIntervalMs: 0, encrypted })
const table = await storage.createTable({
  name: 'items',
  keys: { partition: { name: 'id', type: 'S' } },
  indexes: [],
})

for (let batch = 0; batch < 5; batch++) {
  writeSync(1, `asked ${batch}\n`)
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      await storage.overwrite(table, { id: `${batch}-${i}`, text: 'x'.repeat(1000) })
      writeSync(1, `acknowledged ${batch}\n`)
    }),
  )
}
// Deleted one after the other, because the keys of new items are prepared during other writes.
const deletions = encrypted ? 20 : 0
for (let i = 0; i < deletions; i++) {
  await storage.write((tx) => tx.delete(table, tx.get(table, { id: `0-${i}` })!))
  writeSync(1, `deleted ${i}\n`)
}
await storage.close()
