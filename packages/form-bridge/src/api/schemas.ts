/** What requests hold. */
import { z } from '@hono/zod-openapi'
import { AgencyId, Email, RegistrationId, SiteId, Slug, Version } from '../items/formats.ts'
import { ProofMethod } from '../items/registration.ts'
import { SiteEnvironment } from '../items/site.ts'
import { ValidationLevel } from '../items/validation.ts'

const SiteUrl = z.string().min(1).max(2000).openapi({ example: 'https://example.com/blog' })
/** Any text: what is no key at all is as wrong as one that is not the right one. */
const GivenKey = z.string().min(1).max(200)
const TempKey = GivenKey.openapi({ example: 'fb_temp_…' })
// Formats of items know nothing of OpenAPI; its examples are metadata to them.
const Registration = RegistrationId.meta({ example: 'reg_01KA5Q2Z8V6M4T0R7W3Y1XBCDE' })
const WordPressVersion = Version.meta({ example: '6.8' })
const PluginVersion = Version.meta({ example: '1.0.0' })

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: z.string().optional(),
})

export const BySite = z.object({ site_id: SiteId })
export const ByAgency = z.object({ agency_id: AgencyId })
export const BySlug = z.object({ slug: Slug.meta({ example: 'form-bridge' }) })
export const ByVersion = BySlug.extend({ version: Version })

export const RegisterBody = z
  .strictObject({
    site_url: SiteUrl,
    wp_version: WordPressVersion,
    plugin_version: PluginVersion,
    environment: SiteEnvironment.optional(),
    admin_email: Email.optional().openapi({ description: 'Only with consent' }),
    join_token: GivenKey.optional(),
    supersedes: z
      .strictObject({ registration_id: Registration, temp_key: TempKey })
      .optional()
      .openapi({ description: 'The caller’s own earlier registration, which ends' }),
  })
  .openapi('FormBridgeRegistration')

export const ExchangeBody = z
  .strictObject({
    registration_id: Registration,
    temp_key: TempKey,
    site_url: SiteUrl,
    methods: z.array(ProofMethod).min(1).max(5).optional(),
    wait: z.boolean().default(true),
    previous_api_key: GivenKey.optional(),
  })
  .openapi('FormBridgeExchange')

export const ValidateBody = z.strictObject({
  registration_id: Registration,
  temp_key: TempKey,
  site_url: SiteUrl,
  validation_level: ValidationLevel.default('basic'),
})

const WEEK = 7 * 86_400

export const RotateBody = z.strictObject({
  grace_seconds: z.int().min(0).max(WEEK).default(86_400),
})

export const HeartbeatBody = z.strictObject({
  wp_version: WordPressVersion.optional(),
  plugin_version: PluginVersion,
  php_version: Version.optional(),
  environment: SiteEnvironment.optional(),
  telemetry: z.boolean().default(false),
})

export const SubmissionBody = z
  .strictObject({
    submission_id: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,64}$/)
      .openapi({ example: '7c9e6679-7425-40de-944b-e07fc1f90ae7' }),
    form_id: z.string().min(1).max(200).openapi({ example: 'contact' }),
    form_name: z.string().max(500).optional(),
    page_url: z.string().max(2000).optional(),
    submitted_at: z.iso.datetime(),
    fields: z.record(z.string(), z.unknown()).openapi({ example: { message: 'Hello' } }),
  })
  .openapi('FormBridgeSubmission')

export const UpdateQuery = z.object({
  slug: Slug.meta({ example: 'form-bridge' }),
  current_version: PluginVersion,
  wp_version: Version.optional(),
  php_version: Version.optional(),
})

export const DestinationBody = z.strictObject({
  url: z.string().min(1).max(2000).openapi({ example: 'https://crm.example.com/hooks/forms' }),
  secret: z.string().max(200).optional().openapi({ description: '`whsec_` and base64' }),
})
