import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { saveToken } from '../src/commands/serve.ts'
import { emptyDirectory } from './strongroom.ts'

test('a saved token never overwrites another', async () => {
  const directory = await emptyDirectory()
  const [first, second] = [await saveToken('one', directory), await saveToken('two', directory)]
  expect([first, second]).toEqual([
    { file: join(directory, 'operator-admin.token') },
    { file: join(directory, 'operator-admin-2.token') },
  ])
  expect(await readFile(join(directory, 'operator-admin.token'), 'utf8')).toBe('one\n')
})

test('a token that cannot be written does not stop the server', async () => {
  const file = join(await emptyDirectory(), 'file')
  await writeFile(file, '')
  expect(await saveToken('one', join(file, 'data'))).toEqual({ lost: 'ENOTDIR' })
})
