// Raises a shared counter a number of times, with one transaction each, and creates a table of its
// own. Arguments: the directory, a name, how often.

import { openStorage } from '../../../src/storage/open-storage.ts'

const [directory, name, times] = process.argv.slice(2) as [string, string, string]
const storage = openStorage({ directory })
console.log('ready')
process.stdin.once('data', () => void work())

async function work(): Promise<void> {
  const table = storage.table('counters')!
  const own = await storage.createTable({
    name: `of-${name}`,
    keys: { partition: { name: 'id', type: 'S' } },
    indexes: [],
  })
  const lane = async (): Promise<void> => {
    for (let i = 0; i < Number(times) / 8; i++) {
      await storage.write((tx) => {
        const old = tx.get(table, { id: 'shared' })
        tx.put(table, { id: 'shared', n: ((old?.['n'] as number) ?? 0) + 1 }, old)
        tx.overwrite(own, { id: `${i}` })
      })
    }
  }
  await Promise.all(Array.from({ length: 8 }, lane))
  console.log(`table ${own.id}`)
  await storage.close()
  process.exit(0)
}
