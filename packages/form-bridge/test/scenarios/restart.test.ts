import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '@strongroom/engine/engine'
import { createTables } from '@strongroom/kit/tables'
import { systemClock } from '@strongroom/platform/clock'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { expect, test } from 'vitest'
import { createAuthenticate } from '../../src/authentication/service.ts'
import { newSiteId } from '../../src/sites/item.ts'
import { createSiteSecrets } from '../../src/credentials/secrets.ts'
import { sha256Hex } from '../../src/credentials/keys.ts'
import { canonicalRequest, signText } from '../../src/authentication/signature.ts'
import { createStores } from '../../src/stores.ts'
import { formBridgeTable } from '../../src/tables.ts'

test('a site and its used nonces are still known after a restart of the server', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'form-bridge-'))
  const clock = systemClock
  const siteSecrets = createSiteSecrets({ box: secretBox, clock: systemClock })
  const site_id = newSiteId()
  const keys = await siteSecrets.issueKeys(site_id)
  const open = async () => {
    const engine = await openEngine({ directory })
    const stores = createStores({ db: engine, clock })
    const authenticate = createAuthenticate({ ...stores, clock, siteSecrets })
    return { engine, stores, authenticate }
  }

  const before = await open()
  await createTables(before.engine, [formBridgeTable])
  const registration = await before.stores.registrations.create({
    domain: 'shop.example.org',
    temp_key: sha256Hex('key'),
    wp_version: '6.8',
    plugin_version: '1.0.0',
    client_ip: 'ip_0',
  })
  await before.stores.credentials.connect(registration, {
    site_id,
    ...keys.stored,
    rate_limit_remaining: 1,
  })
  const request = { method: 'GET', target: '/v1/site', body: new Uint8Array(0) }
  const moment = (nonce: string) => ({ timestamp: Math.floor(clock.now() / 1000), nonce })
  const signed = (at: ReturnType<typeof moment>) => ({
    site_id,
    ...at,
    signature: signText(keys.plain.webhook_secret, canonicalRequest(request, at)),
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
