/** Parameters and fields that requests of several nouns have. */
import { z } from '@hono/zod-openapi'
import { AgencyId, RegistrationId, SiteId, Slug, Version } from './formats.ts'

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().optional(),
})

// The formats do not know OpenAPI; to them an example is metadata.
const PluginSlug = Slug.meta({ example: 'form-bridge' })

export const SiteParams = z.object({ site_id: SiteId })
export const AgencyParams = z.object({ agency_id: AgencyId })
export const PluginParams = z.object({ slug: PluginSlug })
export const VersionParams = PluginParams.extend({ version: Version })

export const SiteUrl = z.string().min(1).max(2000).openapi({ example: 'https://example.com/blog' })
export const WordPressVersion = Version.meta({ example: '6.8' })
export const PluginVersion = Version.meta({ example: '1.0.0' })

/** Any text: a value that is not a key gets the same error as a wrong key. */
export const KeyText = z.string().min(1).max(200)

/** A registration, and the key that only its owner has. */
export const RegistrationCredentials = z.strictObject({
  registration_id: RegistrationId.meta({ example: 'reg_01KA5Q2Z8V6M4T0R7W3Y1XBCDE' }),
  temp_key: KeyText.openapi({ example: 'fb_temp_…' }),
})

export const DestinationBody = z.strictObject({
  url: z.string().min(1).max(2000).openapi({ example: 'https://crm.example.com/hooks/forms' }),
  secret: z.string().max(200).optional().openapi({ description: '`whsec_` and base64' }),
})
