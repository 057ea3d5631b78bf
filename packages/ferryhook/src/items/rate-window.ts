/** How much somebody asked for lately; `kit/rate-limit` keeps `{limit}_win`, `_cur` and `_prev` in it. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { seconds } from './values.ts'

export const rateWindowKey = keyTemplate({ PK: 'RATE#{scope}#{id}', SK: 'WINDOW' })

export const RateWindowItem = z
  .object({ ...rateWindowKey.fields, expiresAt: seconds })
  .catchall(z.int())
