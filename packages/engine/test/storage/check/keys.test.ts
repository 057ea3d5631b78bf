import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDirectory } from '../../../src/storage/check/directory.ts'
import { SLOT_FILE } from '../../../src/storage/item-keys/slot-file.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { freshEngine, plain } from '../../support/engine.ts'

async function secureDirectory(): Promise<string> {
  const engine = await freshEngine()
  await engine.createTable({ ...plain, SecureDeleteEnabled: true })
  for (const id of ['a', 'b']) await engine.putItem({ TableName: 'plain', Item: { id } })
  await engine.deleteItem({ TableName: 'plain', Key: { id: 'b' } })
  await engine.close()
  return engine.storage.directory
}

async function messages(directory: string): Promise<string[]> {
  const { problems } = await checkDirectory(directory)
  return problems.map(({ kind, remedy, message }) => `${kind} ${remedy}: ${message}`)
}

test('a directory with encrypted items has no problems, and its keys are not changed', async () => {
  const directory = await secureDirectory()
  const before = readFileSync(join(directory, SLOT_FILE))
  expect(await messages(directory)).toEqual([])
  expect(readFileSync(join(directory, SLOT_FILE)).equals(before)).toBe(true)
})

test('an item whose key was overwritten is named', async () => {
  const directory = await secureDirectory()
  const file = join(directory, SLOT_FILE)
  writeFileSync(file, Buffer.alloc(readFileSync(file).length, 1))
  expect(await messages(directory)).toEqual([
    'item restore: An item of table "plain" cannot be decrypted: its key is missing or does not fit',
  ])
})

test('a missing file of keys is named, and the check does not create it', async () => {
  const directory = await secureDirectory()
  rmSync(join(directory, SLOT_FILE))
  const missing = `file restore: ${SLOT_FILE}, which has the keys of items, is missing`
  expect(await messages(directory)).toEqual([missing])
  expect(await messages(directory)).toEqual([missing])
})

test.each([
  ['the number of slots', ['slot', 'next'], 'many'],
  ['free slots', ['slot', 'free', 0], [1, -1]],
  ['the slots of a process', ['slot', 'owner', 'x'], 'nobody'],
  ['slots to overwrite', ['slot', 'erase', 'x', 1], { slot: 1 }],
])('a damaged record of %s is named', async (_, key, value) => {
  const directory = await secureDirectory()
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  await storage.settled()
  storage.environment.meta.putSync(key, value)
  await storage.close()
  expect(await messages(directory)).toContainEqual(
    expect.stringMatching(/^key (?:restore|rebuild): The record "slot" of the catalog is damaged$/),
  )
})
