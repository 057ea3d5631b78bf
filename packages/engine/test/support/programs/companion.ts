// Another process on the same directory: does what its standard input says, one JSON line at a time,
// and prints "done" after each. Used to show what one process sees of another.

import { createInterface } from 'node:readline'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { NewIndex } from '../../../src/storage/storage.ts'
import type { Item } from '../../../src/values/types.ts'

type Command =
  | { do: 'put'; table: string; item: Item }
  | { do: 'create'; table: string }
  | { do: 'drop'; table: string }
  | { do: 'index'; table: string; index: NewIndex }

const storage = openStorage({ directory: process.argv[2]!, sweepIntervalMs: 0 })
console.log('ready')

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  const table = storage.table(command.table)
  if (command.do === 'put') {
    await storage.write((tx) => tx.put(table!, command.item, tx.get(table!, command.item)))
  } else if (command.do === 'drop') {
    await storage.dropTable(command.table)
  } else if (command.do === 'index') {
    await storage.replaceTable({ ...table!, indexes: [command.index] })
    await storage.settled()
  } else {
    const keys = { partition: { name: 'id', type: 'S' } } as const
    await storage.createTable({ name: command.table, keys, indexes: [] })
  }
  console.log('done')
}
await storage.close()
