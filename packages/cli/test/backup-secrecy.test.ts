import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { openMasterKeyFile } from '@strongroom/kms/master-key/file'
import { protectCheaply } from '@strongroom/kms/testing/cheap-passphrase'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { serverSecret } from './server-secret.ts'
import { emptyDirectory, strongroom } from './strongroom.ts'

const masterKeyIn = (cwd: string, data = 'data') => join(cwd, data, 'keys', 'master.key')

/** Every file below a directory, with its content. */
async function contentOf(directory: string) {
  const names = (await readdir(directory, { recursive: true })).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      return [name, (await stat(path)).isFile() ? await readFile(path, 'base64') : null]
    }),
  )
}

describe('a backup', () => {
  test('excludes sealed secrets of every prefix without --with-sealed', async () => {
    const cwd = await emptyDirectory()
    const secret = 'destroyed-means-destroyed'
    const tables = ['sealed-secrets', 'two-sealed-secrets', 'other']
    const engine = await openEngine({ directory: join(cwd, 'data') })
    for (const TableName of tables) {
      await engine.createTable({
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      })
      if (TableName !== 'other') await engine.putItem({ TableName, Item: { id: secret } })
    }
    await engine.close()

    const made = await inProcess(['backup', join(cwd, 'without')], { cwd })
    expect([made.code, made.stdout]).toEqual([
      0,
      `1 table with 0 items copied to ${join(cwd, 'without')}\nsealed-secrets was skipped: --with-sealed includes it\ntwo-sealed-secrets was skipped: --with-sealed includes it\n`,
    ])
    expect((await readFile(join(cwd, 'without'))).includes(secret)).toBe(false)

    const whole = await inProcess(['backup', join(cwd, 'with'), '--with-sealed', '--json'], { cwd })
    expect(JSON.parse(whole.stdout)).toMatchObject({
      tables: tables.toSorted().map((name) => ({ name })),
      excluded: [],
      masterKey: false,
      saveToo: null,
    })
    expect((await readFile(join(cwd, 'with'))).includes(secret)).toBe(true)
  })

  test('contains no master key without --with-master-key, and says what else to save', async () => {
    const cwd = await emptyDirectory()
    await serverSecret(cwd)
    const key = Buffer.from(await openMasterKeyFile(masterKeyIn(cwd)))
    const forms = [
      key,
      ...(['hex', 'base64', 'base64url'] as const).map((form) => Buffer.from(key.toString(form))),
      await readFile(masterKeyIn(cwd)),
    ]
    const made = await inProcess(['backup', join(cwd, 'without')], { cwd })
    expect(made.stdout).toContain(
      `Save ${masterKeyIn(cwd)} too, elsewhere: without it, nothing that the KMS encrypted can be decrypted\n`,
    )
    const file = await readFile(join(cwd, 'without'))
    for (const form of forms) expect(file.includes(form)).toBe(false)

    const asked = await inProcess(['backup', join(cwd, 'with'), '--with-master-key'], { cwd })
    expect(asked.stdout).toContain(
      'It includes the master key: anyone with the file has everything\n',
    )
    expect((await stat(join(cwd, 'with'))).mode & 0o777).toBe(0o600)
    const line = (await readFile(masterKeyIn(cwd))).toString('base64')
    expect((await readFile(join(cwd, 'with'))).includes(line)).toBe(true)
  })

  test('says what else to save even without the prefix of the tables', async () => {
    const cwd = await emptyDirectory()
    await serverSecret(cwd, { env: { STRONGROOM_TABLE_PREFIX: 'two-' } })
    const made = await inProcess(['backup', join(cwd, 'copy')], { cwd })
    expect(made.stdout).toContain(`Save ${masterKeyIn(cwd)} too, elsewhere`)
    await serverSecret(cwd, { data: 'other' })
    const env = { STRONGROOM_MASTER_KEY_FILE: masterKeyIn(cwd, 'other') }
    const back = await inProcess(['restore', join(cwd, 'copy'), '--data', join(cwd, 'again')], {
      cwd,
      env,
    })
    expect([back.code, back.stderr]).toEqual([
      1,
      expect.stringContaining('its KMS keys were created with another master key'),
    ])
  })

  test('fails if the master key is missing or does not match', async () => {
    const cwd = await emptyDirectory()
    await serverSecret(cwd)
    await serverSecret(cwd, { data: 'other' })
    const backup = (STRONGROOM_MASTER_KEY_FILE: string) =>
      inProcess(['backup', join(cwd, 'x'), '--with-master-key'], {
        cwd,
        env: { STRONGROOM_MASTER_KEY_FILE },
      })
    expect(await backup(join(cwd, 'nowhere'))).toMatchObject({
      code: 1,
      stderr: `Cannot include the master key in the backup: "${join(cwd, 'nowhere')}" not found\n`,
    })
    expect(await backup(masterKeyIn(cwd, 'other'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/created with another master key than the one in ".*"\n$/),
    })
    expect(await readdir(cwd)).not.toContain('x')
  })
})

describe('restoring', () => {
  test('restores everything with the master key in the backup', async () => {
    const cwd = await emptyDirectory()
    const env = { STRONGROOM_TABLE_PREFIX: 'two-' }
    const secret = await serverSecret(cwd, { env })
    await inProcess(['backup', join(cwd, 'copy'), '--with-master-key'], { cwd, env })
    const back = await inProcess(['restore', join(cwd, 'copy'), '--data', join(cwd, 'again')], {
      cwd,
      env,
    })
    expect([back.code, back.stdout]).toEqual([
      0,
      expect.stringContaining(`The master key is in ${masterKeyIn(cwd, 'again')}\n`),
    ])
    expect((await stat(masterKeyIn(cwd, 'again'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(cwd, 'again', 'keys'))).mode & 0o777).toBe(0o700)
    expect(await serverSecret(cwd, { data: 'again', env })).toEqual(secret)
  })

  test('says where to put a missing master key, and the server starts once it is there', async () => {
    const cwd = await emptyDirectory()
    const secret = await serverSecret(cwd)
    await inProcess(['backup', join(cwd, 'copy')], { cwd })
    const back = await inProcess(['restore', join(cwd, 'copy'), '--data', join(cwd, 'again')], {
      cwd,
    })
    expect([back.code, back.stdout]).toEqual([
      0,
      expect.stringContaining(
        `Put the master key of this backup into ${masterKeyIn(cwd, 'again')} before you start the server`,
      ),
    ])
    await expect(serverSecret(cwd, { data: 'again' })).rejects.toThrow('is missing')
    await mkdir(join(cwd, 'again', 'keys'), { mode: 0o700 })
    await cp(masterKeyIn(cwd), masterKeyIn(cwd, 'again'))
    expect(await serverSecret(cwd, { data: 'again' })).toEqual(secret)
  })

  test('keeps a matching master key, even with a passphrase', async () => {
    const cwd = await emptyDirectory()
    const env = { STRONGROOM_MASTER_KEY_PASSPHRASE: 'open sesame' }
    const secret = await serverSecret(cwd)
    await protectCheaply(masterKeyIn(cwd), 'open sesame')
    await inProcess(['backup', join(cwd, 'copy'), '--with-master-key'], { cwd })
    await mkdir(join(cwd, 'again', 'keys'), { recursive: true, mode: 0o700 })
    await cp(masterKeyIn(cwd), masterKeyIn(cwd, 'again'))
    const before = await contentOf(join(cwd, 'again'))

    const unasked = await strongroom(['restore', 'copy', '--data', 'again'], { cwd })
    expect([unasked.code, unasked.stderr]).toEqual([
      1,
      expect.stringMatching(/is protected by a passphrase: set STRONGROOM_\S+_FILE or \S+\n$/),
    ])
    expect(await contentOf(join(cwd, 'again'))).toEqual(before)
    const back = await inProcess(['restore', join(cwd, 'copy'), '--data', join(cwd, 'again')], {
      cwd,
      env,
    })
    expect(back.code).toBe(0)
    expect(await serverSecret(cwd, { data: 'again', env })).toEqual(secret)
  })

  test.each([{ attached: false }, { attached: true }])(
    'fails and changes nothing if there is another master key: $attached',
    async ({ attached }) => {
      const cwd = await emptyDirectory()
      await serverSecret(cwd)
      await inProcess(['backup', join(cwd, 'copy'), ...(attached ? ['--with-master-key'] : [])], {
        cwd,
      })
      await serverSecret(cwd, { data: 'other' })
      await mkdir(join(cwd, 'again', 'keys'), { recursive: true, mode: 0o700 })
      await cp(masterKeyIn(cwd, 'other'), masterKeyIn(cwd, 'again'))
      const before = await contentOf(cwd)
      const { code, stdout, stderr } = await inProcess(
        ['restore', join(cwd, 'copy'), '--data', join(cwd, 'again')],
        {
          cwd,
        },
      )
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        `Cannot restore the backup "${join(cwd, 'copy')}": its KMS keys were created with another master key than the one in "${masterKeyIn(cwd, 'again')}": put the right one there, or set STRONGROOM_MASTER_KEY_FILE\n`,
      ])
      expect(await contentOf(cwd)).toEqual(before)
    },
  )
})
