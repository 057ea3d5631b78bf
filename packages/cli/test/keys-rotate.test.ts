import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { makeKeys, onBranchKeysOf } from './test-keys.ts'
import { emptyDirectory, start } from './strongroom.ts'

const OLD = ['keys', 'rotate', '--all', '--older-than', '90d']

describe('strongroom keys rotate --all', () => {
  test('rotates old keys with a line for each and skips the others', async () => {
    const cwd = await emptyDirectory()
    await makeKeys(cwd, 3, 100)
    await onBranchKeysOf(cwd, { ageDays: 10 }, (branchKeys) =>
      branchKeys.create({ id: 'young', encryptionContext: { tenant: 'a' } }),
    )
    const first = await inProcess(OLD, { cwd })
    expect([first.code, first.stdout]).toEqual([0, '3 keys rotated, 1 young enough, 0 failed\n'])
    expect(first.stderr.trim().split('\n').toSorted()).toEqual(
      [1, 2, 3].map((number) =>
        expect.stringMatching(new RegExp(`^${number}\\. key:\\d \\(100 days old\\): rotated$`)),
      ),
    )
    const second = await inProcess([...OLD, '--json'], { cwd })
    expect([second.code, second.stderr]).toEqual([0, ''])
    expect(JSON.parse(second.stdout)).toEqual({ rotated: 0, young: 4, failed: [], stopped: false })
  })

  test('rotates the other keys if some fail, lists those and exits with 1', async () => {
    const cwd = await emptyDirectory()
    await makeKeys(cwd, 3, 100)
    await onBranchKeysOf(cwd, {}, async (_keys, db) => {
      const Key = { 'branch-key-id': 'key:1', type: 'branch:ACTIVE' }
      const TableName = 'strongroom-branch-keys'
      const { Item } = await db.getItem({ TableName, Key })
      await db.putItem({ TableName, Item: { ...Item, 'create-time': 'once' } })
    })
    const { code, stdout, stderr } = await inProcess(OLD, { cwd })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /^2 keys rotated, 0 young enough, 1 failed\n {2}key:1: KMS does not authenticate .*\n$/,
    )
    expect(stderr).toMatch(/^\d\. key:1 \(age unknown\): FAILED$/m)
  })

  test('stops after the current key on Ctrl+C and continues when run again', async () => {
    const cwd = await emptyDirectory()
    const count = 150
    await makeKeys(cwd, count, 100)
    const running = start(OLD, { cwd })
    await once(running.process.stderr ?? running.process, 'data')
    running.process.kill('SIGINT')
    const stopped = await running.finished
    expect([stopped.code, stopped.stdout]).toEqual([
      130,
      expect.stringMatching(
        /^\d+ keys? rotated, 0 young enough, 0 failed\nInterrupted: run the same command again to continue\n$/,
      ),
    ])
    const done = Number.parseInt(stopped.stdout, 10)
    expect(done).toBeGreaterThanOrEqual(1)
    const rest = await inProcess([...OLD, '--json'], { cwd })
    expect([rest.code, JSON.parse(rest.stdout)]).toEqual([
      0,
      { rotated: count - done, young: done, failed: [], stopped: false },
    ])
  })
})
