/** How many events a user with a limit has had stored in a month. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { count, seconds } from './values.ts'

export const quotaKey = keyTemplate({ PK: 'QUOTA#{userId}', SK: '{month}' })

export const QuotaItem = z.object({ ...quotaKey.fields, events: count, expiresAt: seconds })
