import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createOperators } from '@strongroom/kit/operators'
import { systemClock } from '@strongroom/platform/clock'
import { settings } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireTables } from '@strongroom/server/tables'
import { serverTable } from '@strongroom/kit/server-table'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { sealedServer } from './sealed-server.ts'
import { emptyDirectory } from './strongroom.ts'

async function newOperator(directory: string): Promise<string> {
  const store = await openStore(settings.parse({ STRONGROOM_DATA: directory }))
  await requireTables(store, [serverTable])
  const token = await createOperators({ db: store.db, clock: systemClock }).add('ops')
  await store.close()
  return token
}

describe('strongroom sealed token', () => {
  test('adds, lists and revokes API tokens on the store and through a server', async () => {
    const { url, directory } = await sealedServer()
    const onStore = { env: { STRONGROOM_DATA: directory } }
    const operator = await newOperator(directory)
    const onServer = { env: { STRONGROOM_TOKEN: operator } }
    const local = await inProcess(['sealed', 'token', 'add', 'ci', '--expires', '90d'], onStore)
    expect(local).toMatchObject({ code: 0, stderr: '' })
    expect(local.stdout).toMatch(/^srs_ci\.[\w-]{43}\n$/)
    const remote = await inProcess(
      ['sealed', 'token', 'add', 'deploy', '--per-hour', '5', '--json', '--server', url],
      onServer,
    )
    expect(JSON.parse(remote.stdout)).toMatchObject({
      name: 'deploy',
      perHour: 5,
      expiresAt: null,
      lastUsedAt: null,
      token: expect.stringMatching(/^srs_deploy\./),
    })
    const listed = await inProcess(['sealed', 'token', 'list'], onStore)
    expect(listed.stdout).toMatch(/^ci  100 per hour, created .* UTC, expires .* UTC, never used\n/)
    expect(listed.stdout).toMatch(/\ndeploy  5 per hour, .*, does not expire, never used\n$/)
    const revoked = await inProcess(['sealed', 'token', 'revoke', 'ci', '--server', url], onServer)
    expect(revoked).toEqual({ code: 0, stdout: 'ci was revoked\n', stderr: '' })
    expect(await inProcess(['sealed', 'token', 'revoke', 'ci'], onStore)).toMatchObject({
      code: 1,
      stderr: 'API token not found. See "strongroom sealed token list".\n',
    })
    const wrong = await inProcess(['sealed', 'token', 'add', 'x', '--per-hour', '0'], onStore)
    expect(wrong).toMatchObject({
      code: 2,
      stderr: '--per-hour must be a number from 1 to 1000000\n',
    })
  })

  test('seal needs no proof of work with the token in SEALED_TOKEN, until it is revoked', async () => {
    const { url, directory } = await sealedServer({ settings: { SEALED_DIFFICULTY: '24' } })
    const onStore = { env: { STRONGROOM_DATA: directory } }
    const { stdout } = await inProcess(['sealed', 'token', 'add', 'ci'], onStore)
    const file = join(await emptyDirectory(), 'secret.txt')
    await writeFile(file, 'hunter2')
    const seal = () =>
      inProcess(['seal', '--file', file], {
        env: { STRONGROOM_SERVER: url, SEALED_TOKEN: stdout.trim() },
      })
    expect(await seal()).toMatchObject({ code: 0, stderr: '' })
    await inProcess(['sealed', 'token', 'revoke', 'ci'], onStore)
    expect(await seal()).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The API token is invalid, revoked or expired. Create another one, or seal without it.\n',
    })
  })
})
