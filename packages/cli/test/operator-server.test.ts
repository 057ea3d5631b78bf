import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimFirstAdmin } from './first-admin.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

describe('commands of operators with --server', () => {
  let server: Running
  let url: string
  let admin: string
  let cwd: string
  let elsewhere: string

  beforeAll(async () => {
    cwd = await emptyDirectory()
    elsewhere = await emptyDirectory()
    server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    const printed = await server.until('\n}\n')
    ;({ url } = JSON.parse(printed) as { url: string })
    admin = await claimFirstAdmin(printed)
  })
  afterAll(() => server.process.kill('SIGKILL'))

  const run = (args: string[], token = admin) =>
    inProcess([...args, '--server', url], { cwd: elsewhere, env: { STRONGROOM_TOKEN: token } })

  test('adds, changes, lists, rotates and removes operators over HTTP', async () => {
    const flags = ['--role', 'viewer', '--service', 'form-bridge', '--expires', '90d']
    const added = await run(['operator', 'add', 'bob', ...flags])
    expect([added.code, added.stdout]).toEqual([0, expect.stringMatching(/^sro_bob\./)])
    expect((await run(['operator', 'list'])).stdout).toMatch(
      /^admin {2}admin, added .*, last used .*\nbob {2}viewer for form-bridge, added .*, expires in \d+ days, never used\n$/,
    )
    const unlimited = ['--role', 'editor', '--all-services', '--expires', 'never', '--json']
    const changed = await run(['operator', 'change', 'bob', ...unlimited])
    expect(JSON.parse(changed.stdout)).toMatchObject({ name: 'bob', role: 'editor' })
    expect(JSON.parse(changed.stdout)).not.toHaveProperty('expiresAt')
    const rotated = await run(['operator', 'rotate', 'bob'])
    expect(rotated.stdout).not.toBe(added.stdout)
    expect((await run(['operator', 'remove', 'bob'])).stdout).toBe('bob was removed\n')
    const entries = JSON.parse((await run(['audit', 'list', '--target', 'bob', '--json'])).stdout)
    expect(entries.map(({ action }: { action: string }) => action)).toEqual([
      'server.operator.removed',
      'server.operator.rotated',
      'server.operator.changed',
      'server.operator.added',
    ])
  })

  test('lists and ends sessions, and resets a second factor, over HTTP and on the store', async () => {
    const local = (...args: string[]) => inProcess([...args], { cwd })
    const none = await run(['operator', 'sessions'])
    expect([none.code, none.stdout]).toEqual([0, 'There are no sessions\n'])
    const { token } = JSON.parse((await run(['operator', 'add', 'sue', '--json'])).stdout)
    const signIn = () =>
      fetch(`${url}/server/v1/session`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      })
    const cookie = /^[^;]+/.exec((await signIn()).headers.get('set-cookie') ?? '')?.[0] ?? ''
    await signIn()
    const listed = await run(['operator', 'sessions', 'sue'])
    expect(listed.stdout).toMatch(
      /^sue {2}ses_[\w-]+ {2}signed in .* from 127\.0\.0\.1, .*expires in 1[12] hours\n/,
    )
    const sessions = JSON.parse((await local('operator', 'sessions', '--json')).stdout)
    expect(sessions).toHaveLength(2)
    for (const [at, command] of [run, (args: string[]) => local(...args)].entries()) {
      const ended = await command(['operator', 'sessions', 'revoke', sessions[at].id])
      expect([ended.code, ended.stdout]).toEqual([0, 'The session has ended\n'])
      const again = await command(['operator', 'sessions', 'revoke', sessions[at].id])
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('Session not found')])
    }
    const ended = await fetch(`${url}/server/v1/session`, { headers: { cookie } })
    expect(ended.status).toBe(401)
    for (const command of [run, (args: string[]) => local(...args)]) {
      const reset = await command(['operator', 'reset-2fa', 'sue'])
      expect([reset.code, reset.stderr]).toEqual([
        1,
        expect.stringContaining('No second factor is set up'),
      ])
    }
    await run(['operator', 'remove', 'sue'])
  })

  test('verifies the audit log over HTTP with the same result as on the store', async () => {
    const local = (...args: string[]) => inProcess(['audit', 'verify', ...args], { cwd })
    for (const json of [[], ['--json']]) {
      const remote = await run(['audit', 'verify', ...json])
      expect(remote).toEqual(await local(...json))
      expect([remote.code, remote.stdout]).toEqual([0, expect.stringContaining('entries')])
    }
    const engine = await openEngine({ directory: join(cwd, 'data') })
    const Key = { PK: `AUDIT#${new Date().toISOString().slice(0, 7)}`, SK: '000000000001' }
    const TableName = 'strongroom-operations'
    const { Item = {} } = await engine.getItem({ TableName, Key })
    await engine.putItem({ TableName, Item: { ...Item, actor: 'operator:somebody' } })
    const found = await run(['audit', 'verify'])
    expect(found).toEqual(await local())
    expect([found.code, found.stdout]).toEqual([1, expect.stringContaining('/1: The entry was')])
    await engine.putItem({ TableName, Item })
    await engine.close()
  })

  test('lists and rotates server secrets over HTTP', async () => {
    // The first listing with a cursor creates the secret.
    await run(['audit', 'list'])
    const rotated = await run(['secrets', 'rotate', 'server-cursors', '--overlap', '1h', '--json'])
    const made = JSON.parse(rotated.stdout) as { activeFrom: number; olderAcceptedUntil: number }
    expect(made).toMatchObject({ name: 'server-cursors', version: 2 })
    expect(made.olderAcceptedUntil - made.activeFrom).toBe(3_600)
    const listed = await run(['secrets', 'list', '--json'])
    const secrets = JSON.parse(listed.stdout) as { name: string; version: number }[]
    const versions = secrets.filter(({ name }) => name === 'server-cursors')
    expect(new Set(versions.map(({ version }) => version))).toEqual(new Set([1, 2]))
    const { stdout } = await run(['audit', 'list', '--action', 'server.secret.rotated'])
    expect(stdout).toMatch(/operator:admin {2}server\.secret\.rotated {2}server-cursors/)
  })

  test('reports the role that is missing', async () => {
    const { stdout } = await run(['operator', 'add', 'reader', '--role', 'viewer'])
    const refused = await run(['operator', 'add', 'other'], stdout.trim())
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'This requires the operator role admin for server. Ask an admin to change the role of reader.\n',
    ])
  })

  test('rejects a wrong role, service or change', async () => {
    const wrong = [
      ['add', 'x', '--role', 'king'],
      ['add', 'x', '--service', 'nothing'],
      ['add', 'x', '--expires', 'soon'],
      ['change', 'x'],
      ['change', 'x', '--service', 'sealed', '--all-services'],
    ]
    for (const args of wrong) expect((await run(['operator', ...args])).code).toBe(2)
  })
})
