/** Of what and how a user wants to be told. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { count, id, isoTime, sealed } from './values.ts'

export const alertKinds = [
  'delivery.failed',
  'connection.warning',
  'connection.paused',
  'limit.reached',
] as const

export const alertSettingsKey = keyTemplate({ PK: 'USER#{userId}', SK: 'ALERTS' })

export const AlertSettingsItem = z.object({
  ...alertSettingsKey.fields,
  userId: id('usr'),
  kinds: z.array(z.enum(alertKinds)),
  /** There is a secret if there is an address. */
  webhookUrl: z.string().min(1).max(2_048).optional(),
  signingSecret: sealed.optional(),
  /** Whether to the address of the account, too. */
  email: z.boolean(),
  /** The last alert that could not be told by the webhook, if none was since. */
  failedAt: isoTime.optional(),
  failure: z.string().min(1).max(100).optional(),
  /** Raised with each change by the user, so that none is made of what was changed meanwhile. */
  rev: count,
  updatedAt: isoTime,
})
export type AlertSettings = z.infer<typeof AlertSettingsItem>
