/** A fleet of Form-Bridge sites: agencies, versions over days, and everything that operators look for. */
import { randomBytes } from 'node:crypto'
import { formBridgeTable } from '@strongroom/form-bridge/tables'
import { createTestStores } from '../../../form-bridge/test/support/test-stores.ts'
import { pluginZip, signatureOf } from '../../../form-bridge/test/support/published-plugin.ts'
import type { ConsoleSite } from './browser.ts'

export { releaseKey } from '../../../form-bridge/test/support/published-plugin.ts'

const DAY_MS = 86_400_000

/** Names that people may choose, and that must stay text. */
export const HOSTILE_AGENCY = '\u202Eevil\u202C <img src=x onerror=alert(1)> & "Söhne"'
export const HOSTILE_DOMAIN = "xn--80ak6aa92e.example/%3Cscript%3Ealert(1)%3C/script%3E&'"
export const LONG_DOMAIN = `${'a-very-long-name-'.repeat(8)}end.example/${'shop/'.repeat(20)}x`

type Stores = ReturnType<typeof createTestStores>

export interface Fleet {
  stores: Stores
  agency_id: string
  api_key_of_agency?: string
  /** By domain. */
  ids: Map<string, string>
}

export function fleetStores(site: ConsoleSite): Stores {
  return createTestStores(site.db, site.clock)
}

/** Changes attributes of a site that no route sets, such as when it was last seen. */
async function setAttributes(
  site: ConsoleSite,
  { domain, site_id }: { domain: string; site_id: string },
  attributes: Record<string, string>,
): Promise<void> {
  const names = Object.keys(attributes)
  await site.db.updateItem({
    TableName: formBridgeTable.name,
    Key: { PK: `SITE#${domain}`, SK: `CREDS#${site_id}` },
    UpdateExpression: `SET ${names.map((_, at) => `#${at} = :${at}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name, at) => [`#${at}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      names.map((name, at) => [`:${at}`, attributes[name] ?? '']),
    ),
  })
}

async function publishRelease(site: ConsoleSite, token: string, version: string): Promise<void> {
  const zip = pluginZip(version)
  const response = await fetch(`${site.origin}/form-bridge/v1/plugins/form-bridge/${version}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/zip',
      'x-fb-release-signature': signatureOf(zip, version),
    },
    body: Buffer.from(zip),
  })
  if (response.status !== 201) throw new Error(`Cannot publish: ${await response.text()}`)
}

/** Sites by version on each of the last days, with a new version that spreads. */
async function writeAdoption(site: ConsoleSite, total: number): Promise<void> {
  const now = site.clock.now()
  for (let ago = 0; ago < 30; ago++) {
    const date = new Date(now - ago * DAY_MS).toISOString().slice(0, 10)
    const share = Math.max(0, 1 - ago / 12)
    const counts: Record<string, number> = {
      '2.4.1': Math.round(total * 0.65 * share),
      '2.4.0': Math.round(total * (0.85 - 0.65 * share)),
      '2.3.9': Math.round(total * 0.08),
      '2.2.4': Math.round(total * 0.04),
      '2.1.0': Math.round(total * 0.02),
      ...(ago < 20 && { '2.4.0-rc2': Math.max(2, Math.round(total * 0.02)) }),
    }
    for (const [version, n] of Object.entries(counts)) {
      if (n === 0) continue
      await site.db.putItem({
        TableName: formBridgeTable.name,
        Item: { PK: `ADOPTION#${date}`, SK: `VERSION#${version}`, n },
      })
    }
  }
}

/** `count` sites, of which some are in every state that there is. */
export async function createFleet(
  site: ConsoleSite,
  { count = 30, token }: { count?: number; token?: string } = {},
): Promise<Fleet> {
  const stores = fleetStores(site)
  const agency = await stores.agencies.create({
    agency_id: `agency_${randomBytes(12).toString('base64url')}`,
    agency_name: HOSTILE_AGENCY,
    contact_email: 'office@nord.example',
    max_sites: 40,
    api_key_hash: randomBytes(32).toString('hex'),
  })
  if (agency.kind === 'conflict') throw new Error('The agency exists')
  const { agency_id } = agency.agency
  if (token !== undefined) {
    for (const version of ['2.1.0', '2.2.4', '2.3.9', '2.4.0-rc2', '2.4.0', '2.4.1']) {
      await publishRelease(site, token, version)
    }
    await site.api('POST', '/form-bridge/v1/plugins/form-bridge/2.4.0-rc2/withdraw', { token })
  }
  const ids = new Map<string, string>()
  const named = [
    'bakery-lindner.example',
    'hotel-seeblick.example',
    'vet-clinic-east.example',
    'shop.northwind.example',
    'staging.bakery-lindner.example',
    'cycling-club.example',
    'garden-centre.example',
    'old.harbour-inn.example',
    HOSTILE_DOMAIN,
    LONG_DOMAIN,
  ]
  const versions = ['2.4.1', '2.4.1', '2.4.0', '2.4.1', '2.4.1', '2.4.0-rc2', '2.2.4', '2.1.0']
  for (let at = count - 1; at >= 0; at--) {
    const domain = named[at] ?? `site-${String(at).padStart(4, '0')}.example`
    const created = await stores.connectedSite(domain)
    ids.set(domain, created.site_id)
    await stores.updateChecks.record({
      site_id: created.site_id,
      domain,
      current_version: versions[at] ?? ['2.4.1', '2.4.0', '2.3.9'][at % 3] ?? '2.4.1',
      latest_version: '2.4.1',
      update_available: false,
    })
    if (at % 2 === 0 && at < 30) {
      await stores.joinAgency({ agency_id, site_id: created.site_id, domain, role: 'owner' })
    }
    const ago = (ms: number) => new Date(site.clock.now() - ms).toISOString()
    const last_seen = domain === 'garden-centre.example' ? 19 * DAY_MS : (at + 1) * 130_000
    await setAttributes(site, created, {
      last_seen: ago(last_seen),
      ...(domain.startsWith('staging.') && { environment: 'staging' }),
      ...(domain === 'hotel-seeblick.example' && { unconfirmed_since: ago(660_000) }),
    })
    if (domain === 'shop.northwind.example') await stores.sites.suspend(created)
    if (domain === 'old.harbour-inn.example') await stores.sites.disable(created)
  }
  await writeAdoption(site, count)
  return { stores, agency_id, ids }
}
