import { serviceStores } from '@strongroom/kit/testing/stores'
import { zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { createReleaseKey } from '../../src/releases/signature.ts'
import { concurrently, createTestService } from '../support/test-service.ts'
import { pluginZip, publish, releaseKey, signatureOf } from '../support/published-plugin.ts'

describe.each(serviceStores())('publishing on $name', (store) => {
  const service = createTestService(store, { FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey })
  const send = (version: string, given?: Parameters<typeof publish>[3]) =>
    publish(service.call, service.operator, version, given)
  const versions = async () =>
    (await service.call('GET', '/plugins/form-bridge/versions', { token: service.operator })).body
      .items
  const unsigned = { status: 403, code: 'form-bridge.release_unsigned' }

  test('accepts a package that is signed with a release key, and lists it', async () => {
    const response = await send('1.0.0')
    expect(response).toMatchObject({ status: 201, body: { version: '1.0.0', status: 'published' } })
    expect(await versions()).toMatchObject([{ version: '1.0.0', sha256: response.body.sha256 }])
  })

  test('shows a release, and whether it is the one that sites are offered from the cache', async () => {
    const show = (version: string) =>
      service.call('GET', `/plugins/form-bridge/versions/${version}`, { token: service.operator })
    await send('1.0.1')
    expect((await show('1.0.1')).body).toMatchObject({ status: 'published', is_cached: false })
    await service.call('GET', '/updates/check?slug=form-bridge&current_version=1.0.0')
    await expect.poll(async () => (await show('1.0.1')).body.is_cached).toBe(true)
    expect((await show('1.0.0')).body).toMatchObject({ version: '1.0.0', is_cached: false })
    await service.call('POST', '/plugins/form-bridge/1.0.1/withdraw', { token: service.operator })
    expect((await show('1.0.1')).body).toMatchObject({ status: 'withdrawn', is_cached: false })
    const missing = { status: 404, code: 'form-bridge.version_not_found' }
    expect(await show('9.9.9')).toMatchObject(missing)
  })

  test('rejects a package without a signature, with one of another key, or with one of another package', async () => {
    const zip = pluginZip('1.0.2')
    const attacker = createReleaseKey().privateKey
    const signatures = [
      '',
      'nonsense',
      signatureOf(zip, '1.0.2', { key: attacker }),
      signatureOf(zip, '1.0.3'),
      signatureOf(zip, '1.0.2', { slug: 'other' }),
      signatureOf(pluginZip('1.0.3'), '1.0.2'),
      signatureOf(zip, '1.0.2').slice(0, -2),
    ]
    for (const signature of signatures)
      expect(await send('1.0.2', { zip, signature })).toMatchObject(unsigned)
    const bare = await service.call('PUT', '/plugins/form-bridge/1.0.2', {
      token: service.operator,
      bytes: zip,
      headers: { 'content-type': 'application/zip' },
    })
    expect(bare.status).toBe(400)
    const tampered = Uint8Array.from(zip)
    tampered[zip.length - 1] = 1
    const signature = signatureOf(zip, '1.0.2')
    expect(await send('1.0.2', { zip: tampered, signature })).toMatchObject(unsigned)
    expect((await versions()).map((each: { version: string }) => each.version)).not.toContain(
      '1.0.2',
    )
  })

  test('rejects a version that is older than the newest or already published', async () => {
    await send('2.0.0')
    expect(await send('1.9.9')).toMatchObject({ status: 409, code: 'form-bridge.release_older' })
    expect(await send('2.0.0')).toMatchObject({ status: 409, code: 'form-bridge.release_exists' })
    await service.call('POST', '/plugins/form-bridge/2.0.0/withdraw', { token: service.operator })
    expect((await send('1.9.9')).code).toBe('form-bridge.release_older')
    expect((await send('2.0.0')).code).toBe('form-bridge.release_exists')
  })

  test('of one version succeeds once if it is sent concurrently', async () => {
    const responses = await concurrently(5, () => send('2.1.0'))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    const others = responses.filter(({ status }) => status !== 201)
    for (const { code } of others) expect(code).toBe('form-bridge.release_exists')
  })

  test('is impossible for an operator alone, because every package needs a release key', async () => {
    const keyless = await service.another({ FORM_BRIDGE_RELEASE_KEYS: '' })
    const response = await publish(keyless, service.operator, '3.0.0')
    expect(response).toMatchObject({ status: 409, code: 'form-bridge.release_key_missing' })
  })

  test('rejects a package whose header has another version than the request', async () => {
    const zip = pluginZip('9.0.0')
    const response = await send('9.0.1', { zip, signature: signatureOf(zip, '9.0.1') })
    expect(response).toMatchObject({ status: 400, code: 'form-bridge.release_invalid' })
  })

  const main = {
    'form-bridge/form-bridge.php': Buffer.from('<?php\n// Plugin Name: F\n// Version: 9.1.0\n'),
  }
  const problem = async (zip: Uint8Array) => {
    const response = await send('9.1.0', { zip, signature: signatureOf(zip, '9.1.0') })
    expect(response).toMatchObject({ status: 400, code: 'form-bridge.release_invalid' })
    return response.body.error.details[0].message
  }

  test.each([
    ['a path that climbs out', { 'form-bridge/../evil.php': Buffer.from('x') }, 'unsafe name'],
    ['an absolute path', { '/etc/evil.php': Buffer.from('x') }, 'unsafe name'],
    ['a Windows path', { 'form-bridge\\evil.php': Buffer.from('x') }, 'unsafe name'],
    ['a drive', { 'C:/evil.php': Buffer.from('x') }, 'unsafe name'],
    ['a second folder', { 'evil/evil.php': Buffer.from('x') }, 'outside the folder'],
    ['a file beside the folder', { 'evil.php': Buffer.from('x') }, 'outside the folder'],
    [
      'names that differ in case only',
      { 'form-bridge/FORM-BRIDGE.php': Buffer.from('x') },
      'two files',
    ],
  ])('refuses %s', async (_, files, message) => {
    expect(await problem(zipSync({ ...main, ...files }))).toContain(message)
  })

  test('rejects a zip archive that is not a plugin', async () => {
    expect(await problem(Buffer.from('nonsense'))).toContain('not a plain zip')
    expect(await problem(zipSync({ 'form-bridge/other.php': Buffer.from('x') }))).toContain(
      'form-bridge.php',
    )
    const nameless = { 'form-bridge/form-bridge.php': Buffer.from('<?php // Version: 9.1.0') }
    expect(await problem(zipSync(nameless))).toContain('Plugin Name')
    const readme = { 'form-bridge/readme.txt': Buffer.from('Stable tag: 9.0.9\n') }
    expect(await problem(zipSync({ ...main, ...readme }))).toContain('Stable tag')
  })

  test('rejects a symbolic link', async () => {
    const link = [Buffer.from('/etc/passwd'), { os: 3, attrs: 0o120777 << 16 }] as const
    expect(await problem(zipSync({ ...main, 'form-bridge/link': [...link] }))).toContain(
      'symbolic link',
    )
  })

  test('rejects a zip bomb, declared or not, without unpacking it', async () => {
    const zip = zipSync({ 'form-bridge/zeros.bin': new Uint8Array(1024 * 1024), ...main })
    /** The same with another size in its directory. */
    const saying = (bytes: number) => {
      const changed = Buffer.from(zip)
      changed.writeUInt32LE(bytes, changed.indexOf(Buffer.from('PK\u0001\u0002')) + 24)
      return changed
    }
    expect(await problem(saying(101 * 1024 * 1024))).toContain('100 MB')
    expect(await problem(saying(10))).toContain('larger than its directory says')
  })

  test('rejects an archive that two readers could interpret differently', async () => {
    const zip = Buffer.from(zipSync(main))
    const renamed = Buffer.from(zip)
    renamed.write('form-bridge/form-bridge.pht', 30)
    expect(await problem(renamed)).toContain('two different names')
    expect(await problem(Buffer.concat([zip, Buffer.from('more')]))).toContain('not a plain zip')
    const damaged = Buffer.from(zip)
    damaged[30 + 27 + 3] = damaged[30 + 27 + 3]! ^ 255
    expect(await problem(damaged)).toContain('damaged')
  })

  test('rejects a package with too many files', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_001 }, (_, n) => [`form-bridge/${n}.txt`, new Uint8Array(0)]),
    )
    expect(await problem(zipSync({ ...main, ...many }, { level: 0 }))).toContain('5000 files')
  })

  test('rejects more than 20 MB before reading the body', async () => {
    const response = await send('9.1.0', {
      zip: new Uint8Array(20 * 1024 * 1024 + 1),
      signature: 'x',
    })
    expect(response).toMatchObject({ status: 413, code: 'request.too_large' })
  })
})
