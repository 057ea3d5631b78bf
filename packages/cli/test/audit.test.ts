import { userInfo } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../src/run.ts'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start, strongroom } from './strongroom.ts'

interface Entry {
  actor: string
  action: string
  target: string | null
  address: string | null
  outcome: string
}

const PASSPHRASE = { STRONGROOM_MASTER_KEY_PASSPHRASE: 'a long passphrase' }

/** Commands that change the store or its keys: what follows their name, and the entries that they leave. */
const CHANGES: Record<
  string,
  { args?: string[]; env?: Record<string, string>; fd3?: string; entries: string[] }
> = {
  'operator bootstrap': { entries: ['server.bootstrap.created'] },
  'operator add': { args: ['bob', '--role', 'viewer'], entries: ['server.operator.added bob'] },
  'operator change': {
    args: ['bob', '--role', 'editor'],
    entries: ['server.operator.changed bob'],
  },
  'operator rotate': { args: ['bob'], entries: ['server.operator.rotated bob'] },
  'operator remove': { args: ['bob'], entries: ['server.operator.removed bob'] },
  'sealed token add': { args: ['ci'], entries: ['sealed.api_token.added ci'] },
  'sealed token revoke': { args: ['ci'], entries: ['sealed.api_token.revoked ci'] },
  'user add': { args: ['ada@example.com'], entries: ['ferryhook.user.added usr_'] },
  'user plan': {
    args: ['ada@example.com', 'free'],
    entries: ['ferryhook.user.plan_changed usr_'],
  },
  'user invite': { args: ['--json'], entries: ['ferryhook.invite.created'] },
  'user reset': {
    args: ['ada@example.com', '--json'],
    entries: ['ferryhook.user.password_reset_offered usr_'],
  },
  'user remove': { args: ['ada@example.com'], entries: ['ferryhook.user.removed usr_'] },
  'keys create': {
    args: ['--id', 'key', '--context', 'tenant=a'],
    entries: ['key-store.key.created key'],
  },
  'keys rotate': { args: ['key'], entries: ['key-store.key.rotated key'] },
  'secrets rotate': {
    args: ['ferryhook-cursors'],
    entries: ['server.secret.rotated ferryhook-cursors'],
  },
  'kms rotate': { entries: ['kms.key.rotated done', 'kms.key.rotated started'] },
  'kms rekey': {
    args: ['--no-passphrase'],
    entries: ['kms.master_key.replaced done', 'kms.master_key.replaced started'],
  },
  'kms passphrase set': {
    env: PASSPHRASE,
    entries: ['kms.passphrase.set done', 'kms.passphrase.set started'],
  },
  'kms passphrase change': {
    args: ['--fd', '3'],
    env: PASSPHRASE,
    fd3: PASSPHRASE.STRONGROOM_MASTER_KEY_PASSPHRASE,
    entries: ['kms.passphrase.changed done', 'kms.passphrase.changed started'],
  },
  'kms passphrase remove': {
    env: PASSPHRASE,
    entries: ['kms.passphrase.removed done', 'kms.passphrase.removed started'],
  },
}

/** Commands that change nothing, call a server that records it, or have a test of their own. */
const OTHERS = [
  'abuse',
  'adoption',
  'agencies',
  'alerts',
  'api-keys',
  'audit list',
  'audit verify',
  'backup',
  'burn',
  'check',
  'config',
  // Its target gets the audit log of the source.
  'copy',
  'connections',
  'dynamodb',
  'events',
  'fake-slack',
  'fill',
  'jobs',
  'keys beacon',
  'keys list',
  'keys show',
  'kms audit verify',
  // A file that no store uses yet.
  'kms master-key create',
  'kms serve',
  'kms status',
  'listen',
  'open',
  // Its entry has the name of the new admin: see below.
  'operator claim',
  'operator list',
  'operator reset-2fa',
  'operator sessions',
  'plugin',
  'rate-limits',
  'receipt',
  // They work on tables while no server runs, like a restore.
  'recover',
  'registrations',
  'replays',
  'request',
  // Its entry is in the restored store: see below.
  'restore',
  'seal',
  'sealed token list',
  'secrets list',
  'security-events',
  'serve',
  'sites',
  'slack',
  'sources',
  'status',
  // Its entries are tested below, on stores without tables.
  'tables create',
  'tables cloudformation',
  'tables policy',
  'tables verify',
  'user failing',
  'user list',
  'user reset-2fa',
  'user show',
  'worker',
]

describe('the audit log of commands', () => {
  let cwd: string
  const list = async (...args: string[]) => {
    const { stdout } = await inProcess(['audit', 'list', '--json', ...args], { cwd })
    return JSON.parse(stdout) as Entry[]
  }

  beforeAll(async () => {
    cwd = await emptyDirectory()
    const server = start(['serve', '--json'], { cwd, env: { PORT: '0' } })
    await server.until('\n}\n')
    server.process.kill('SIGTERM')
    await server.finished
    await inProcess(['operator', 'add', 'root'], { cwd })
  })

  test('is tested for every command', async () => {
    const all = (await Promise.all(Object.values(commands).map((load) => load()))).flat()
    const isKnown = (name: string) =>
      name in CHANGES || OTHERS.some((each) => name === each || name.startsWith(`${each} `))
    expect(all.map(({ name }) => name).filter((name) => !isKnown(name))).toEqual([])
  })

  test('has the entries of each command that changes something', async () => {
    for (const [name, { args = [], env = {}, fd3, entries }] of Object.entries(CHANGES)) {
      const before = (await list()).length
      const line = [...name.split(' '), ...args]
      const { code, stderr } =
        fd3 === undefined
          ? await inProcess(line, { cwd, env })
          : await strongroom(line, { cwd, env, fd3, stdin: '' })
      expect([name, code, stderr]).toEqual([name, 0, ''])
      const found = (await list()).slice(0, -before)
      expect(found).toMatchObject(
        found.map(() => ({ actor: `local:${userInfo().username}`, address: null })),
      )
      expect(
        found.map(({ action, target, outcome }, at) => {
          const text = `${action} ${target ?? ''} ${outcome}`
          const expected = entries[at] ?? ''
          return expected.split(' ').every((word) => text.includes(word)) ? expected : text
        }),
      ).toEqual(entries)
    }
    const verified = await inProcess(['audit', 'verify'], { cwd })
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/, intact\n$/)])
  }, 120_000)

  test('names the admin that claimed a bootstrap code, and shows no code or token', async () => {
    const { stdout: code } = await inProcess(['operator', 'bootstrap'], { cwd })
    const claimed = await inProcess(['operator', 'claim', code.trim(), '--name', 'cleo'], { cwd })
    expect(claimed.stdout).toMatch(/^sro_cleo\./)
    const [entry] = await list('--target', 'cleo')
    expect(entry).toMatchObject({ actor: 'operator:cleo', action: 'server.bootstrap.claimed' })
    const text = JSON.stringify(await list('--limit', '1000'))
    expect(text).not.toMatch(/srb_|sro_/)
  })

  test('says in a restored store that it was restored, and its chain is intact', async () => {
    const file = join(cwd, 'copy')
    await inProcess(['backup', file], { cwd })
    const [before] = await list('--limit', '1')
    const again = await emptyDirectory()
    expect((await inProcess(['restore', file], { cwd: again })).code).toBe(0)
    const { stdout } = await inProcess(['audit', 'list', '--json'], { cwd: again })
    expect(JSON.parse(stdout).slice(0, 2)).toMatchObject([
      {
        actor: `local:${userInfo().username}`,
        address: null,
        action: 'server.store.restored',
        outcome: 'done',
        after: { backupOf: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/) },
      },
      before,
    ])
    const verified = await inProcess(['audit', 'verify'], { cwd: again })
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringMatching(/, intact\n$/)])
    expect((await list('--limit', '1'))[0]).toEqual(before)
  })

  test('has the tables that were created, and nothing if none was', async () => {
    const fresh = await emptyDirectory()
    const entries = async () => {
      await inProcess(['tables', 'create'], { cwd: fresh })
      const { stdout } = await inProcess(['audit', 'list', '--json'], { cwd: fresh })
      return JSON.parse(stdout) as (Entry & { after: { tables: string[] } })[]
    }
    const created = await entries()
    expect(created).toMatchObject(
      ['done', 'started'].map((outcome) => ({
        actor: `local:${userInfo().username}`,
        address: null,
        action: 'server.tables.created',
        outcome,
      })),
    )
    expect(created[0]?.after.tables).toHaveLength(10)
    expect(await entries()).toEqual(created)
    const engine = await openEngine({ directory: join(fresh, 'data') })
    await engine.deleteTable({ TableName: 'sealed-secrets' })
    await engine.close()
    expect((await entries())[0]?.after).toEqual({ tables: ['sealed-secrets'] })
  })

  test('is filtered by actor, action and time', async () => {
    const [first] = await list('--action', 'kms.key.rotated', '--limit', '1')
    expect(first).toMatchObject({ action: 'kms.key.rotated', outcome: 'done' })
    expect(await list('--actor', 'operator:nobody')).toEqual([])
    expect((await list('--since', '1h')).length).toBeGreaterThan(5)
    const wrong = await inProcess(['audit', 'list', '--limit', '0'], { cwd })
    expect(wrong.code).toBe(2)
  })

  test('says that a change failed', async () => {
    const { code } = await inProcess(['kms', 'passphrase', 'remove'], { cwd, env: PASSPHRASE })
    expect(code).toBe(1)
    const wrong = { ...PASSPHRASE, STRONGROOM_MASTER_KEY_PASSPHRASE: 'another one' }
    await inProcess(['kms', 'passphrase', 'set'], { cwd, env: PASSPHRASE })
    expect((await inProcess(['kms', 'passphrase', 'remove'], { cwd, env: wrong })).code).toBe(1)
    const entries = await list('--action', 'kms.passphrase.removed', '--limit', '2')
    expect(entries.map(({ outcome }) => outcome)).toEqual(['failed', 'started'])
    await inProcess(['kms', 'passphrase', 'remove'], { cwd, env: PASSPHRASE })
  })

  test('exits with 1 if an entry was changed', async () => {
    const engine = await openEngine({ directory: join(cwd, 'data') })
    const month = new Date().toISOString().slice(0, 7)
    await engine.updateItem({
      TableName: 'strongroom-operations',
      Key: { PK: `AUDIT#${month}`, SK: '000000000002' },
      UpdateExpression: 'SET actor = :actor',
      ExpressionAttributeValues: { ':actor': 'operator:somebody' },
    })
    await engine.close()
    const { code, stdout } = await inProcess(['audit', 'verify'], { cwd })
    expect([code, stdout]).toEqual([1, expect.stringContaining('/2: The entry was changed')])
  })
})
