import { expect, test } from 'vitest'
import { checkStorage } from '../../src/storage/check.ts'
import type { OpenStorage } from '../../src/storage/open-storage.ts'
import { ORDERS, temporaryStorage } from '../support/programs/harness.ts'

async function tableWith(storage: OpenStorage, name: string, id: string): Promise<void> {
  const table = await storage.createTable({ ...ORDERS, name })
  const { partition, sort } = ORDERS.keys
  const key = { [partition.name]: id, ...(sort && { [sort.name]: sort.type === 'N' ? 1 : 'a' }) }
  await storage.write((tx) => tx.put(table, key, undefined))
}

function idsIn(storage: OpenStorage, name: string): unknown[] {
  const table = storage.table(name)
  const found = table ? [...storage.range(table, undefined, {})] : []
  return found.map((item) => item[ORDERS.keys.partition.name])
}

test('tables take the names of others, whose items stay under the new names', async () => {
  const storage = temporaryStorage()
  for (const [name, id] of Object.entries({ a: '1', b: '2', a2: '3', b2: '4' }))
    await tableWith(storage, name, id)
  await storage.swapTables([
    { name: 'a', by: 'a2', keepAs: 'a-old' },
    { name: 'b', by: 'b2', keepAs: 'b-old' },
  ])
  const names = storage.tables().map(({ name }) => name)
  expect(names).toEqual(['a', 'a-old', 'b', 'b-old'])
  expect(names.map((name) => idsIn(storage, name))).toEqual([['3'], ['1'], ['4'], ['2']])
  await storage.settled()
  expect(await checkStorage(storage)).toMatchObject({ problems: [] })
})

test('a swap of which one part is impossible changes nothing', async () => {
  const storage = temporaryStorage()
  for (const [name, id] of Object.entries({ a: '1', b: '2', a2: '3' }))
    await tableWith(storage, name, id)
  const good = { name: 'a', by: 'a2', keepAs: 'a-old' }
  await expect(
    storage.swapTables([good, { name: 'b', by: 'missing', keepAs: 'b-old' }]),
  ).rejects.toMatchObject({ name: 'ResourceNotFoundException' })
  await expect(storage.swapTables([{ ...good, keepAs: 'b' }])).rejects.toMatchObject({
    name: 'TableAlreadyExistsException',
  })
  expect(storage.tables().map(({ name }) => name)).toEqual(['a', 'a2', 'b'])
  expect(idsIn(storage, 'a')).toEqual(['1'])
})
