import { describe, expect, inject, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory } from './strongroom.ts'

const endpoint = inject('dynamodbLocal')

describe.each([
  { store: 'the embedded engine', env: {} as Record<string, string> },
  ...(endpoint === null
    ? []
    : [
        {
          store: 'an endpoint',
          env: { DYNAMODB_ENDPOINT: endpoint, STRONGROOM_TABLE_PREFIX: `cli${process.pid}-` },
        },
      ]),
])('strongroom on $store', ({ env }) => {
  test('creates its tables and verifies them', async () => {
    const cwd = await emptyDirectory()
    const before = await inProcess(['tables', 'verify'], { cwd, env })
    expect([before.code, before.stdout + before.stderr]).toEqual([
      1,
      expect.stringMatching(/does not exist|^There is no store in /),
    ])

    const created = await inProcess(['tables', 'create'], { cwd, env })
    expect([created.code, created.stdout]).toEqual([0, '10 of 10 tables created\n'])
    expect(created.stderr.match(/: created$/gm)).toHaveLength(10)

    const again = await inProcess(['tables', 'create', '--json'], { cwd, env })
    const outcomes = JSON.parse(again.stdout) as { outcome: string }[]
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(10).fill('exists'))
    const after = await inProcess(['tables', 'verify', '--json'], { cwd, env })
    const checks = JSON.parse(after.stdout) as { differences: string[] }[]
    expect([after.code, checks.flatMap(({ differences }) => differences)]).toEqual([0, []])
  })

  test('adds, lists, rotates and removes operators', async () => {
    const cwd = await emptyDirectory()
    await inProcess(['tables', 'create'], { cwd, env })
    const run = (...args: string[]) => inProcess(['operator', ...args], { cwd, env })

    const added = await run('add', 'ops')
    expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^sro_ops\.\S{43}\n$/)])
    expect((await run('add', 'ops')).stderr).toBe(
      'An operator of this name exists. Choose another name, or rotate its token.\n',
    )
    const rotated = await run('rotate', 'ops')
    expect(rotated.stdout).not.toBe(added.stdout)
    expect((await run('list')).stdout).toMatch(
      /^ops {2}admin, added \d{4}-\d\d-\d\d, token rotated /,
    )
    expect((await run('remove', 'ops')).stderr).toBe(
      'One admin without an expiry and for all services must remain. Add another admin first.\n',
    )
    await run('add', 'other')
    expect((await run('remove', 'ops')).stdout).toBe('ops was removed\n')
    const missing = await run('remove', 'ops')
    expect([missing.code, missing.stderr]).toEqual([
      1,
      'Operator not found. See "strongroom operator list".\n',
    ])
    expect((await run('list')).stdout).toMatch(/^other {2}admin, .*, never used\n$/)
  })
})
