/**
 * Secrets of sites as they are stored: sealed for the attribute and the site they are of.
 *
 * All sites share one branch key: a branch key for each would be a call to KMS for each. What was
 * opened is remembered by its sealed text, so a secret that was replaced is never taken for the new.
 */
import * as z from 'zod'
import type { SecretBox } from '@strongroom/kit/secret-box'

const Destination = z.object({ url: z.string(), secret: z.string().optional() })
export type Destination = z.infer<typeof Destination>

const REMEMBERED = 10_000

export type KeptSecrets = ReturnType<typeof createKeptSecrets>

export function createKeptSecrets(box: SecretBox) {
  const opened = new Map<string, string>()

  const place = (site_id: string, attribute: string) => ({
    service: 'form-bridge',
    tenant: 'sites',
    entity: site_id,
    attribute,
  })

  async function seal(text: string, site_id: string, attribute: string): Promise<string> {
    const sealed = await box.seal(new TextEncoder().encode(text), place(site_id, attribute))
    return Buffer.from(sealed).toString('base64')
  }

  async function open(sealed: string, site_id: string, attribute: string): Promise<string> {
    const name = `${site_id} ${attribute} ${sealed}`
    const known = opened.get(name)
    if (known !== undefined) return known
    const bytes = await box.open(Buffer.from(sealed, 'base64'), place(site_id, attribute))
    const text = Buffer.from(bytes).toString()
    const [oldest] = opened.keys()
    if (opened.size >= REMEMBERED && oldest !== undefined) opened.delete(oldest)
    opened.set(name, text)
    return text
  }

  return {
    sealWebhookSecret: (site_id: string, secret: string) => seal(secret, site_id, 'webhook_secret'),
    /** Also the one before: it stays sealed for the attribute that it was made for. */
    openWebhookSecret: (site_id: string, sealed: string) => open(sealed, site_id, 'webhook_secret'),
    sealDestination: (site_id: string, destination: Destination) =>
      seal(JSON.stringify(destination), site_id, 'destination'),
    openDestination: async (site_id: string, sealed: string): Promise<Destination> =>
      Destination.parse(JSON.parse(await open(sealed, site_id, 'destination'))),
  }
}
