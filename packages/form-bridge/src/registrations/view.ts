/** Registrations in responses for operators. */
import { z } from '@hono/zod-openapi'
import { SiteEnvironment } from '../sites/item.ts'
import { ProofMethod, RegistrationStatus } from './item.ts'

/** The list of pending registrations has only the attributes that are required here. */
export const OperatorRegistrationView = z.object({
  registration_id: z.string(),
  domain: z.string(),
  status: RegistrationStatus,
  agency_id: z.string().optional(),
  created_at: z.string(),
  expires_at: z.string(),
  wp_version: z.string().optional(),
  plugin_version: z.string().optional(),
  environment: SiteEnvironment.optional(),
  proved_by: ProofMethod.optional(),
  client_ip: z.string().optional(),
})
export type OperatorRegistration = z.infer<typeof OperatorRegistrationView>
