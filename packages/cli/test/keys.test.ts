import { readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { onBranchKeysOf } from './test-keys.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

describe('strongroom keys on the store', () => {
  let cwd: string
  const keys = (...args: string[]) => inProcess(['keys', ...args], { cwd })
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await keys(...args, '--json')).stdout)

  beforeAll(async () => {
    cwd = await emptyDirectory()
    await onBranchKeysOf(cwd, {}, (branchKeys) =>
      branchKeys.create({ id: 'there', encryptionContext: { tenant: 'a' } }),
    )
  })

  test('creates, lists, rotates and shows a key', async () => {
    const context = ['--context', 'tenant=42', '--context', 'k=v=w']
    const made = await strongroom(['keys', 'create', '--id', 'a:b', ...context], { cwd })
    expect(made).toEqual({ code: 0, stdout: 'a:b\n', stderr: '' })
    const rotated = await strongroom(['keys', 'rotate', 'a:b'], { cwd })
    expect([rotated.code, rotated.stderr]).toEqual([0, ''])
    const version = rotated.stdout.trim()
    expect(version).toMatch(UUID)
    const listed = (await keys('list')).stdout
    expect(listed).toMatch(/^ID +AGE +ACTIVE VERSION\n/)
    expect(listed).toMatch(new RegExp(`^a:b +\\d+ seconds? +${version}$`, 'm'))
    const { stdout } = await keys('show', 'a:b')
    expect(stdout).toMatch(/^a:b\n/)
    expect(stdout).toContain('Context     tenant=42, k=v=w\n')
    expect(stdout).toContain('Versions    2\n')
    expect(stdout).toMatch(
      new RegExp(`^ +${version} +active +\\d+ seconds? old, created 2\\S+Z$`, 'm'),
    )
  })

  test('prints one JSON document for each command with --json', async () => {
    const made = (await json('create')) as { id: string }
    expect(made).toEqual({ id: expect.stringMatching(UUID) })
    const { id } = made
    const rotated = (await json('rotate', id)) as { version: string }
    expect(rotated).toMatchObject({ id, version: expect.stringMatching(UUID) })
    expect(await json('list')).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ id, activeVersion: rotated.version }),
      ]),
      unreadable: [],
    })
    expect(await json('show', id)).toMatchObject({
      id,
      active: { activeVersion: rotated.version, encryptionContext: {} },
      versions: [{ version: rotated.version, active: true }, { active: false }],
    })
    expect(await json('beacon', id)).toEqual({
      id,
      createTime: expect.any(String),
      ageSeconds: expect.any(Number),
      kmsArn: expect.stringContaining(':key/'),
    })
  })

  test('shows that there is a beacon key, and the key itself only with --reveal', async () => {
    await keys('create', '--id', 'with-beacon', '--context', 'tenant=42')
    const quiet = await keys('beacon', 'with-beacon')
    expect(quiet.stdout).toMatch(/^\d+ seconds? old, created \S+Z\n$/)
    const revealed = (await keys('beacon', 'with-beacon', '--reveal')).stdout
    expect(Buffer.from(revealed, 'base64')).toHaveLength(32)
    expect(await json('beacon', 'with-beacon', '--reveal')).toEqual({
      id: 'with-beacon',
      beaconKey: revealed.trim(),
    })
  })

  test.each([
    [1, ['create', '--id', 'x'], 'Your own branch key id requires an encryption context'],
    [
      1,
      ['create', '--id', 'there', '--context', 'a=b'],
      'A branch key with this id already exists',
    ],
    [1, ['show', 'nothing'], 'Branch key not found'],
    [2, ['rotate', ''], '"strongroom keys rotate" needs ID'],
    [1, ['beacon', 'nothing', '--reveal'], 'Branch key not found'],
    [2, ['create', '--context', 'x'], '--context takes NAME=VALUE'],
    [2, ['create', '--context', 'x=1', '--context', 'x=2'], '--context repeats a name'],
    [2, ['show'], '"strongroom keys show" needs ID'],
    [2, ['rotate'], 'Missing key'],
    [2, ['rotate', '--older-than', '90d'], '--older-than requires --all'],
    [2, ['rotate', '--all'], '--all needs --older-than'],
    [2, ['rotate', 'a:b', '--all', '--older-than', '0d'], 'Use either an ID or --all'],
    [2, ['rotate', '--all', '--older-than', '90'], '--older-than takes a number'],
  ])('exits with %i and prints one line for "%s"', async (code, args, line) => {
    const ended = await keys(...args)
    expect({ ...ended, stderr: ended.stderr.split('\n').length }).toEqual({
      code,
      stdout: '',
      stderr: 2,
    })
    expect(ended.stderr).toContain(line)
  })

  test('escapes control characters in ids', async () => {
    await onBranchKeysOf(cwd, {}, (branchKeys) =>
      branchKeys.create({ id: 'a\u001b[2J\u202eb', encryptionContext: { x: '\u0007' } }),
    )
    const { stdout } = await keys('list')
    expect(stdout).toContain('a\\u{1b}[2J\\u{202e}b')
    const shown = await keys('show', 'a\u001b[2J\u202eb')
    expect(shown.stdout).toContain('x=\\u{7}\n')
    // oxlint-disable-next-line no-control-regex -- that there are none is what is tested
    expect(stdout + shown.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
  })

  test('reads keys without KMS, and reports a KMS that is unavailable when it creates them', async () => {
    const env = { STRONGROOM_KMS: 'aws' }
    const list = await inProcess(['keys', 'list'], { cwd, env })
    expect([list.code, list.stdout]).toEqual([0, expect.stringContaining('there')])
    for (const args of [['create'], ['rotate', '--all', '--older-than', '0d']]) {
      expect(await inProcess(['keys', ...args], { cwd, env })).toEqual({
        code: 1,
        stdout: '',
        stderr: 'AWS KMS needs a key: set KMS_KEY_ARN\n',
      })
    }
  })

  test('opens no store for an invalid command line', async () => {
    const empty = await emptyDirectory()
    await inProcess(['keys', 'rotate', '--all'], { cwd: empty })
    await inProcess(['keys', 'create', '--context', 'x'], { cwd: empty })
    expect(await readdir(empty)).toEqual([])
    const list = await inProcess(['keys', 'list'], { cwd: empty })
    expect(list).toEqual({ code: 0, stdout: 'There are no branch keys\n', stderr: '' })
  })
})
