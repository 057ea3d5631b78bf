import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { createTables } from '@strongroom/kit/create-tables'
import { systemClock } from '@strongroom/kit/clock'
import { secretBox } from '@strongroom/kit/testing/test-secret-box'
import { expect, test } from 'vitest'
import { createAuthenticate } from '../../src/auth/authenticate.ts'
import { newSiteId } from '../../src/items/site.ts'
import { createKeptSecrets } from '../../src/keys/kept-secrets.ts'
import { hashOf, newKey, newWebhookSecret } from '../../src/keys/key-text.ts'
import { canonical, signatureOf } from '../../src/signing/signed-request.ts'
import { createDataLayer } from '../../src/store/data-layer.ts'
import { formBridgeTable } from '../../src/table.ts'

test('a site is known, and its used nonces too, when the server was started anew', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'form-bridge-'))
  const clock = systemClock
  const kept = createKeptSecrets(secretBox)
  const [site_id, secret] = [newSiteId(), newWebhookSecret()]
  const open = async () => {
    const engine = await openEngine({ directory })
    const layer = createDataLayer({ db: engine, clock })
    const authenticate = createAuthenticate({ clock, authentication: layer.authentication, kept })
    return { engine, layer, authenticate }
  }

  const before = await open()
  await createTables(before.engine, [formBridgeTable])
  const registration = await before.layer.registrations.create({
    domain: 'shop.example.org',
    temp_key: hashOf('key'),
    wp_version: '6.8',
    plugin_version: '1.0.0',
    client_ip: 'ip_0',
  })
  await before.layer.connections.connect(registration, {
    site_id,
    api_key_hash: hashOf(newKey('live')),
    webhook_secret: await kept.sealWebhookSecret(site_id, secret),
    rate_limit_remaining: 1,
  })
  const request = { method: 'GET', target: '/v1/site', body: new Uint8Array(0) }
  const moment = (nonce: string) => ({ timestamp: Math.floor(clock.now() / 1000), nonce })
  const signed = (at: ReturnType<typeof moment>) => ({
    site_id,
    ...at,
    signature: signatureOf(secret, canonical(request, at)),
  })
  const used = signed(moment('0'.repeat(32)))
  await before.authenticate.signed(request, used)
  await before.engine.close()

  const after = await open()
  const known = await after.authenticate.signed(request, signed(moment('1'.repeat(32))))
  expect(known.site.domain).toBe('shop.example.org')
  await expect(after.authenticate.signed(request, used)).rejects.toMatchObject({
    code: 'form-bridge.nonce_used',
  })
  await after.engine.close()
  await rm(directory, { recursive: true })
})
