import { expect, test } from 'vitest'
import { firstStart } from './first-start.ts'
import { inProcess } from './in-process.ts'
import { serverSecret } from './server-secret.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

test('strongroom secrets lists and rotates server secrets without showing them', async () => {
  const cwd = await emptyDirectory()
  const printed: string[] = []
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await inProcess(['secrets', ...args], { cwd })
    printed.push(stdout, stderr)
    return [code, stdout + stderr]
  }
  await firstStart(cwd)
  expect(await run('list')).toEqual([0, 'There are no secrets yet\n'])
  expect(await run('rotate', 'cursor')).toEqual([
    1,
    'Server secret not found. See "strongroom secrets list".\n',
  ])
  const before = await serverSecret(cwd)
  expect(await run('list')).toEqual([
    0,
    expect.stringMatching(
      /^cursor {2}version 1, created \d{4}-\d\d-\d\d \d\d:\d\d UTC \(0 days ago\)\n$/,
    ),
  ])
  expect(await run('rotate', 'cursor', '--overlap', 'long')).toEqual([
    2,
    '--overlap takes a number and one of s, m, h, d, w: such as 30d\n',
  ])
  expect(await run('rotate', 'cursor', '--overlap', '2d')).toEqual([
    0,
    expect.stringMatching(
      /^cursor has version 2, in use from .* UTC; older ones are accepted until .* UTC\n$/,
    ),
  ])
  const overlapping = await serverSecret(cwd)
  expect(overlapping.map(({ version }) => version)).toEqual([1, 2])
  expect(await run('list')).toEqual([
    0,
    expect.stringMatching(
      /^cursor {2}version 2, .*\ncursor {2}version 1, .*, accepted until .* UTC\n$/,
    ),
  ])
  const rotated = await strongroom(['secrets', 'rotate', 'cursor', '--overlap', '0s', '--json'], {
    cwd,
  })
  expect(JSON.parse(rotated.stdout)).toMatchObject({ name: 'cursor', version: 3 })
  const after = await serverSecret(cwd)
  expect(after.map(({ version }) => version)).toEqual([3])

  for (const { key } of [...before, ...overlapping, ...after]) {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(printed.join('') + rotated.stdout).not.toContain(Buffer.from(key).toString(encoding))
    }
  }
})
