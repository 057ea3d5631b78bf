/** Which alerts a user receives, and how. */
import * as z from 'zod'
import { keyTemplate } from '../storage/key-template.ts'
import { count, id, isoTime, sealed } from '../storage/schemas.ts'
import { alertKinds } from './kinds.ts'

export const alertSettingsKey = keyTemplate({ PK: 'USER#{userId}', SK: 'ALERTS' })

export const AlertSettingsItem = z.object({
  ...alertSettingsKey.fields,
  userId: id('usr'),
  kinds: z.array(z.enum(alertKinds)),
  /** If there is an address, there is a signing secret. */
  webhookUrl: z.string().min(1).max(2_048).optional(),
  signingSecret: sealed.optional(),
  /** Whether to also send mail to the address of the account. */
  email: z.boolean(),
  /** Set while the last webhook failed. */
  failedAt: isoTime.optional(),
  failure: z.string().min(1).max(100).optional(),
  /** Increased by each change of the user, to detect concurrent changes. */
  rev: count,
  updatedAt: isoTime,
})
export type AlertSettings = z.infer<typeof AlertSettingsItem>
