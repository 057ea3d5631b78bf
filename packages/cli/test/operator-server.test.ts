import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimFirstAdmin } from './first-admin.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, type Running, start } from './strongroom.ts'

describe('commands of operators with --server', () => {
  let server: Running
  let url: string
  let admin: string
  let elsewhere: string

  beforeAll(async () => {
    const cwd = await emptyDirectory()
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
