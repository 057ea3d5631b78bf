// Writes without pause and prints each acknowledgement, until it is killed. Arguments: the directory,
// a number that makes the keys of this run its own, and whether items are encrypted.

import { openStorage } from '../../../src/storage/open-storage.ts'

const [directory, round, how] = process.argv.slice(2) as [string, string, string]
const storage = openStorage({ directory, sweepIntervalMs: 20, encrypted: how === 'encrypted' })

const table =
  storage.table('accounts') ??
  (await storage.createTable({
    name: 'accounts',
    keys: { partition: { name: 'id', type: 'S' } },
    indexes: [
      {
        name: 'by-kind',
        kind: 'global',
        keys: { partition: { name: 'kind', type: 'S' }, sort: { name: 'n', type: 'N' } },
        projection: { type: 'ALL' },
      },
    ],
    ttl: { attribute: 'expires-at' },
    logs: [{ kind: 'stream', view: 'NEW_AND_OLD_IMAGES', keepMs: 24 * 60 * 60 * 1000 }],
  }))

const filler = 'x'.repeat(600)

async function puts(worker: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `put-${round}-${worker}-${i}`
    await storage.overwrite(table, { id, kind: 'put', n: i, filler })
    console.log(`put ${id}`)
  }
}

async function updates(worker: number): Promise<never> {
  const id = `counter-${worker}`
  for (;;) {
    const n = await storage.write((tx) => {
      const old = tx.get(table, { id })
      const next = ((old?.['n'] as number | undefined) ?? 0) + 1
      tx.put(table, { id, kind: `counter-${next % 3}`, n: next, 'expires-at': 9e9 + next }, old)
      return next
    })
    console.log(`update ${id} ${n}`)
  }
}

async function transactions(worker: number): Promise<never> {
  for (let i = 0; ; i++) {
    const name = `tx-${round}-${worker}-${i}`
    await storage.write((tx) => {
      for (const part of ['a', 'b', 'c']) {
        tx.put(table, { id: `${name}-${part}`, kind: 'tx', n: i, name, filler }, undefined)
      }
      // Moves with every transaction, so that a torn one would show.
      const old = tx.get(table, { id: 'last' })
      tx.put(table, { id: 'last', kind: name, n: i }, old)
    })
    console.log(`tx ${name}`)
  }
}

/** Each is still being copied when the next one is asked for, or when the process is killed. */
async function backups(): Promise<never> {
  for (;;) {
    await storage.backups.create('backup', table)
    const old = storage.backups.all().slice(0, -2)
    await storage.settled()
    for (const each of old) await storage.backups.remove(each, (state) => new Error(state))
  }
}

console.log('ready')
await Promise.race([
  backups(),
  ...Array.from({ length: 4 }, (_, worker) => puts(worker)),
  ...Array.from({ length: 3 }, (_, worker) => updates(worker)),
  ...Array.from({ length: 3 }, (_, worker) => transactions(worker)),
])
