import { createHash, createHmac, randomBytes } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FormBridgeServer, openFormBridge } from './form-bridge-server.ts'
import { inProcess } from './in-process.ts'
import { pluginZip } from './plugin-zip.ts'
import { emptyDirectory } from './strongroom.ts'

describe('through a running server', () => {
  let server: FormBridgeServer
  let url: string
  let site: Awaited<ReturnType<FormBridgeServer['connect']>>

  const strongroom = (...args: string[]) => server.strongroom(...args)

  beforeAll(async () => {
    server = await openFormBridge()
    url = server.siteUrl()
    site = await server.connect()
  })
  afterAll(() => server.close())

  const statusOf = async () => {
    const headers = { authorization: `Bearer ${site.api_key}` }
    const answer = await fetch(`${server.base}/form-bridge/v1/site`, { headers })
    return ((await answer.json()) as { status: string }).status
  }

  const submit = async (submission: object) => {
    const [path, text] = ['/form-bridge/v1/webhook', JSON.stringify(submission)]
    const [timestamp, nonce] = [Math.floor(Date.now() / 1000), randomBytes(16).toString('hex')]
    const digest = createHash('sha256').update(text).digest('hex')
    const signed = `FB1\n${timestamp}\n${nonce}\nPOST\n${path}\n${digest}`
    const mac = createHmac('sha256', site.webhook_secret).update(signed).digest('hex')
    const answer = await fetch(server.base + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-fb-site': site.site_id,
        'x-fb-timestamp': String(timestamp),
        'x-fb-nonce': nonce,
        'x-fb-signature': `v1=${mac}`,
        'x-fb-home': url,
      },
      body: text,
    })
    return answer.status
  }

  test('strongroom sites lists, searches and shows sites', async () => {
    expect((await strongroom('sites', 'list')).stdout).toContain(`${site.site_id}  ${site.domain}`)
    const unseen = await strongroom('sites', 'list', '--status', 'all', '--not-seen-days', '14')
    expect(unseen.stdout).toBe('There are no sites\n')
    expect((await strongroom('sites', 'list', '--search', 'nothing')).stdout).toBe(
      'There are no active sites\n',
    )
    const shown = await strongroom('sites', 'show', site.site_id)
    expect(shown.stdout).toMatch(/^site {10}site_.+\ndomain/)
    expect(shown.stdout).not.toContain(site.api_key)
    expect(shown.stdout).toMatch(
      /\ndestination {3}none: submissions wait on the site\. Set one with/,
    )
    const json = await strongroom('sites', 'show', site.site_id, '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ site_id: site.site_id, status: 'active' })
  })

  test('a suspended site is rejected immediately until it is resumed', async () => {
    const suspended = await strongroom('sites', 'suspend', site.site_id)
    expect(suspended.stdout).toBe(`${site.domain} is suspended\n`)
    expect(await statusOf()).toBe('suspended')
    expect((await strongroom('sites', 'list', '--status', 'suspended')).stdout).toContain(
      site.site_id,
    )
    const twice = await strongroom('sites', 'suspend', site.site_id)
    expect([twice.code, twice.stdout, twice.stderr]).toEqual([
      1,
      '',
      'Cannot suspend the site: it is suspended\n',
    ])
    await strongroom('sites', 'resume', site.site_id)
    expect(await statusOf()).toBe('active')
    const confirmed = await strongroom('sites', 'confirm', site.site_id)
    expect([confirmed.code, confirmed.stderr]).toEqual([
      1,
      'Cannot confirm the site: it is active and needs no confirmation\n',
    ])
  })

  test('a submission reaches a Ferryhook source verified, and a duplicate is recognised', async () => {
    const ferryhook = async <T>(method: string, path: string, bearer?: string, body?: object) => {
      const answer = await fetch(`${server.base}/ferryhook/v1${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(bearer && { authorization: `Bearer ${bearer}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      return (await answer.json()) as T
    }
    const person = { email: 'ada@example.org', name: 'Ada', password: 'correct horse battery' }
    const { accessToken } = await ferryhook<{ accessToken: string }>(
      'POST',
      '/auth/signup',
      undefined,
      person,
    )
    const signingSecret = `whsec_${randomBytes(32).toString('base64')}`
    const source = await ferryhook<{ id: string }>('POST', '/sources', accessToken, {
      name: 'Forms',
      provider: 'standard-webhooks',
      signingSecret,
    })
    const put = await fetch(`${server.base}/form-bridge/v1/sites/${site.site_id}/destination`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${server.base}/in/${source.id}`, secret: signingSecret }),
    })
    expect(put.status).toBe(200)
    const submission = {
      submission_id: randomBytes(16).toString('hex'),
      form_id: 'contact',
      submitted_at: new Date().toISOString(),
      fields: { name: 'Ada' },
    }
    for (const _ of [1, 2]) expect(await submit(submission)).toBe(200)
    const { items } = await ferryhook<{ items: { unverified: boolean }[] }>(
      'GET',
      `/sources/${source.id}/events`,
      accessToken,
    )
    expect(items).toMatchObject([{ unverified: false }])
  })

  test('an invalid id or status is rejected before any request', async () => {
    const wrong = await strongroom('sites', 'suspend', 'example.com')
    expect([wrong.code, wrong.stdout]).toEqual([2, ''])
    expect(wrong.stderr).toMatch(/^SITE must be an id.*\n$/)
    expect((await strongroom('sites', 'list', '--status', 'gone')).code).toBe(2)
    const missing = await strongroom('sites', 'show', 'site_0123456789abcdef')
    expect([missing.code, missing.stderr]).toEqual([1, 'Site not found\n'])
  })

  test('a release is signed, published and listed, and rejected without a signature', async () => {
    const { cwd } = server
    const zip = join(cwd, 'form-bridge-1.2.0.zip')
    await writeFile(zip, pluginZip('1.2.0'))
    const unsigned = await strongroom('plugin', 'publish', zip)
    expect([unsigned.code, unsigned.stderr]).toEqual([
      2,
      `${zip}.sig cannot be read (ENOENT): check its path\n`,
    ])
    await inProcess(['plugin', 'keygen', '--out', join(cwd, 'other.key')], { cwd })
    await inProcess(['plugin', 'sign', zip, '--key', join(cwd, 'other.key')], { cwd })
    const foreign = await strongroom('plugin', 'publish', zip)
    expect(foreign).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The signature does not match'),
    })
    const signed = await inProcess(['plugin', 'sign', zip, '--key', join(cwd, 'release.key')], {
      cwd,
    })
    expect(signed.stdout).toBe(`form-bridge 1.2.0 is signed: ${zip}.sig\n`)
    expect((await strongroom('plugin', 'publish', zip)).stdout).toBe(
      'form-bridge 1.2.0 is published\n',
    )
    expect((await strongroom('plugin', 'versions')).stdout).toMatch(/^1\.2\.0 {2}published/)
    expect((await strongroom('plugin', 'publish', zip)).code).toBe(1)
  })
})

describe('release keys and signatures', () => {
  test('a private key is readable only by its owner and never overwritten', async () => {
    const cwd = await emptyDirectory()
    const key = join(cwd, 'release.key')
    const { stdout } = await inProcess(['plugin', 'keygen', '--out', key], { cwd })
    expect(stdout).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    expect((await stat(key)).mode & 0o777).toBe(0o600)
    const again = await inProcess(['plugin', 'keygen', '--out', key], { cwd })
    expect(again).toMatchObject({ code: 2, stdout: '' })
    await rm(key)
  })

  test('an invalid package or key is rejected with a message that does not contain the key', async () => {
    const cwd = await emptyDirectory()
    const [zip, key] = [join(cwd, 'a.zip'), join(cwd, 'a.key')]
    await writeFile(zip, 'nonsense')
    await writeFile(key, 'a secret of another kind')
    const bad = await inProcess(['plugin', 'sign', zip, '--key', key], { cwd })
    expect([bad.code, bad.stderr]).toEqual([
      1,
      'The package is not a zip archive. Fix the package and sign it again.\n',
    ])
    await writeFile(zip, pluginZip('1.0.0'))
    const noKey = await inProcess(['plugin', 'sign', zip, '--key', key], { cwd })
    expect(noKey).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The key is not an Ed25519 key/),
    })
    expect(noKey.stderr).not.toContain('another kind')
  })
})
