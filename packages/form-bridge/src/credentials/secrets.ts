/**
 * Secrets of sites, encrypted for the site and the attribute that holds them.
 *
 * All sites share one branch key, because one for each site would be a KMS call for each site.
 * Decrypted secrets are cached for a minute by their encrypted text, so a replaced secret is never used.
 */
import { SECRET_CACHE_SECONDS } from '@strongroom/kit/key-cache'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { newKey, newWebhookSecret, sha256Hex } from './keys.ts'

const Destination = z.object({ url: z.string(), secret: z.string().optional() })
export type Destination = z.infer<typeof Destination>

/** What a site receives; it is not stored. */
export interface PlainKeys {
  api_key: string
  webhook_secret: string
}

/** What is stored of them: a hash, and an encrypted secret. */
export interface StoredKeys {
  api_key_hash: string
  webhook_secret: string
}

const MAX_ENTRIES = 10_000

export type SiteSecrets = ReturnType<typeof createSiteSecrets>

export function createSiteSecrets({ box, clock }: { box: SecretBox; clock: Clock }) {
  const decrypted = new LRUCache<string, { text: string; openedAt: number }>({ max: MAX_ENTRIES })

  const context = (site_id: string, attribute: string) => ({
    service: 'form-bridge',
    tenant: 'sites',
    entity: site_id,
    attribute,
  })

  async function encrypt(text: string, site_id: string, attribute: string): Promise<string> {
    const sealed = await box.seal(new TextEncoder().encode(text), context(site_id, attribute))
    return Buffer.from(sealed).toString('base64')
  }

  async function decrypt(encrypted: string, site_id: string, attribute: string): Promise<string> {
    const name = `${site_id} ${attribute} ${encrypted}`
    const known = decrypted.get(name)
    if (known && isRecent(clock, known.openedAt, SECRET_CACHE_SECONDS * 1000)) return known.text
    decrypted.delete(name)
    const openedAt = clock.now()
    const bytes = await box.open(Buffer.from(encrypted, 'base64'), context(site_id, attribute))
    const text = Buffer.from(bytes).toString()
    decrypted.set(name, { text, openedAt })
    return text
  }

  return {
    async issueKeys(site_id: string): Promise<{ plain: PlainKeys; stored: StoredKeys }> {
      const plain = { api_key: newKey('live'), webhook_secret: newWebhookSecret() }
      const webhook_secret = await encrypt(plain.webhook_secret, site_id, 'webhook_secret')
      return { plain, stored: { api_key_hash: sha256Hex(plain.api_key), webhook_secret } }
    },

    /** Also for `previous_webhook_secret`, which was encrypted as `webhook_secret`. */
    decryptWebhookSecret(site_id: string, encrypted: string): Promise<string> {
      return decrypt(encrypted, site_id, 'webhook_secret')
    },

    encryptDestination(site_id: string, destination: Destination): Promise<string> {
      return encrypt(JSON.stringify(destination), site_id, 'destination')
    },

    async decryptDestination(site_id: string, encrypted: string): Promise<Destination> {
      return Destination.parse(JSON.parse(await decrypt(encrypted, site_id, 'destination')))
    },
  }
}
